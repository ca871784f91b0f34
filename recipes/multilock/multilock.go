package multilock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = lease.Forever

// A Lock is a lock on several locks. Any number of goroutines may use one value. Make
// it with New: the methods of a nil or zero Lock fail with
// framework.ErrInvalidArgument.
type Lock struct {
	members []member // in the order of their paths
	limits  retry.Policy
	ranks   []int               // of the members
	recipes []*acquire.Recipe   // of these, if they can go together
	apart   atomic.Int32        // how many calls of Acquire do not try that
	clients []*framework.Client // of the members, if there are several
}

var _ lease.Acquirer = (*Lock)(nil)

// A member is one of the locks.
type member struct {
	lease.Acquirer
	recipe *acquire.Recipe
	given  int // its index among those given to New
}

// New returns the lock on all of these locks. It sends nothing. A Lock among them
// stands for its own locks.
//
// A type of your own around one of our locks is possible. New calls its Acquire with a
// context that has ended, which it has to pass on, and its leases have to own the lock
// in their context. Work of its own under a lease must have ended when its Acquire
// returns: if not all locks are acquired, a lock-delay does not count it.
//
// Errors: framework.ErrInvalidArgument if there is none, if one is no lock of this
// library (a fake of package leasetest is none), or if two are at the same path of one
// client: several permits of a semaphore are acquired together with its Weight.
func New(locks []lease.Acquirer, opts ...Option) (*Lock, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	if o.limits == (retry.Policy{}) {
		o.limits = retry.Exponential(DefaultWaitLimit, DefaultMaxWaitLimit)
	}
	if err := o.limits.Validate(); err != nil {
		return nil, fmt.Errorf("multi-lock: %w: wait limit: %w", framework.ErrInvalidArgument, err)
	}
	l := &Lock{limits: o.limits}
	for _, lock := range locks {
		if err := l.add(lock); err != nil {
			return nil, fmt.Errorf("multi-lock: %w", err)
		}
	}
	if len(l.members) == 0 {
		return nil, fmt.Errorf("multi-lock: %w: no locks", framework.ErrInvalidArgument)
	}
	slices.SortStableFunc(l.members, func(a, b member) int { return cmp.Compare(a.fullPath(), b.fullPath()) })
	var recipes []*acquire.Recipe
	bare := true
	for _, m := range l.members {
		recipes, l.ranks = append(recipes, m.recipe), append(l.ranks, m.given)
		bare = bare && acquire.IsRecipe(m.Acquirer)
	}
	if bare && acquire.CanGoTogether(recipes) {
		l.recipes = recipes
	}
	l.clients = l.several()
	return l, nil
}

// several returns the clients of the members, nil if there is one only.
func (l *Lock) several() (clients []*framework.Client) {
	for _, m := range l.members {
		if !slices.ContainsFunc(clients, kit.Of(m.recipe.Client).SameClient) {
			clients = append(clients, m.recipe.Client)
		}
	}
	if len(clients) == 1 {
		return nil
	}
	return clients
}

// add adds a lock, or those of a multi-lock in the order in which that was given them.
func (l *Lock) add(lock lease.Acquirer) error {
	if several, ok := lock.(*Lock); ok {
		if err := several.check(); err != nil {
			return err
		}
		for _, m := range several.asGiven() {
			if err := l.add(m.Acquirer); err != nil {
				return err
			}
		}
		return nil
	}
	recipe, err := acquire.Identify(lock)
	if err != nil {
		return err
	}
	m := member{lock, recipe, len(l.members)}
	if slices.ContainsFunc(l.members, m.isAt) {
		return fmt.Errorf("%w: two locks at %s", framework.ErrInvalidArgument, quote.Path(m.fullPath()))
	}
	l.members = append(l.members, m)
	return nil
}

// fullPath is the path with chroot and namespace.
func (m member) fullPath() string { return m.recipe.Client.FullPath(m.recipe.Path) }

// isAt reports whether another lock is at the same znode.
func (m member) isAt(other member) bool {
	return kit.Of(m.recipe.Client).SameClient(other.recipe.Client) && m.fullPath() == other.fullPath()
}

// asGiven returns the locks in the order in which they were given to New.
func (l *Lock) asGiven() []member {
	return slices.SortedFunc(slices.Values(l.members), func(a, b member) int { return a.given - b.given })
}

// check fails unless New made the lock.
func (l *Lock) check() error {
	if l == nil || len(l.members) == 0 {
		return recipepath.NotMade("multilock.Lock")
	}
	return nil
}

// Acquire waits up to timeout for all locks. See lease.Acquirer for everything that all
// recipes have in common, and the package for what a lease on several locks is. A
// timeout of 0 or less acquires the locks only if all of them are free now, one after
// the other. The TimeoutError is that of the lock which Acquire waited for last. Close
// of any of the clients ends the wait, with framework.ErrClosed.
func (l *Lock) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if acquire.IsInquiry(ctx) {
		return nil, fmt.Errorf("%w: a multi-lock inside another Acquirer", framework.ErrInvalidArgument)
	}
	if l.clients != nil {
		several, over := acquire.Besides(ctx, l.clients)
		defer over()
		ctx = several
	}
	w := wait{lock: l, ctx: ctx, timeout: timeout, start: time.Now(), order: slices.Clone(l.members)}
	return w.run()
}
