package multilock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/signal"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A claim is what a lease on several locks is made of: one lease on each. It implements
// lease.Claim, which says what its methods do.
type claim struct {
	members []member       // in the order in which they were acquired
	held    []*lease.Lease // of these
	handles []*hold.Handle // of these

	over                signal.Signal
	revocationRequested signal.Signal
	stops               []func() // of what would give that

	mu       sync.Mutex
	loss     error // of the first that was lost
	released bool
}

// newClaim returns a claim on leases that were acquired each with the context of the
// one before.
func newClaim(members []member, held []*lease.Lease) *claim {
	c := &claim{members: members, held: held}
	for _, l := range held {
		c.handles = append(c.handles, hold.HandleOf(l))
	}
	for _, h := range c.handles {
		c.stops = append(c.stops, h.OnRevocationRequested(c.revocationRequested.Give))
	}
	for _, h := range c.handles {
		h.OnEnd(func() { c.ended(h) })
	}
	return c
}

// ended is called when a claim on one of the locks is over. Unless the claim on all is
// released, it is lost then, and those on the others are given up.
func (c *claim) ended(h *hold.Handle) {
	loss := h.Err()
	c.mu.Lock()
	if c.released || c.loss != nil {
		c.mu.Unlock()
		return
	}
	c.loss = loss
	c.mu.Unlock()
	c.end()
	for _, other := range c.handles {
		if other != h {
			other.GiveUp(lease.ErrMemberLost)
		}
	}
}

// end says that the claim is over.
func (c *claim) end() {
	for _, stop := range c.stops {
		stop()
	}
	c.over.Give()
}

// Context is that of the lease that was acquired last, with the context of the one
// before, and so on: it ends with the first of them.
func (c *claim) Context() context.Context { return c.held[len(c.held)-1].Context() }

// Done is closed when the claim is over.
func (c *claim) Done() <-chan struct{} { return c.over.Done() }

// Token returns 0 if there are several locks.
func (c *claim) Token() lease.Token {
	if len(c.held) > 1 {
		return 0
	}
	return c.held[0].Token()
}

// Tokens are in the order in which the locks were given to New.
func (c *claim) Tokens() []lease.Token {
	tokens := make([]lease.Token, len(c.held))
	for i, l := range c.held {
		tokens[c.members[i].given] = l.Token()
	}
	return tokens
}

// Path is the znode at the lock that was given first to New.
func (c *claim) Path() string {
	for i, m := range c.members {
		if m.given == 0 {
			return c.held[i].Path()
		}
	}
	return ""
}

// Err asks all locks.
func (c *claim) Err() error {
	for _, l := range c.held {
		if l.Err() != nil {
			break // which has called ended
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return fmt.Errorf("%s: %w", quote.Path(c.Path()), lease.ErrReleased)
	}
	return c.loss
}

// TrustedUntil is the earliest of all.
func (c *claim) TrustedUntil() time.Time {
	until := c.held[0].TrustedUntil()
	for _, l := range c.held[1:] {
		if other := l.TrustedUntil(); other.Before(until) {
			until = other
		}
	}
	return until
}

// Confirm asks for all at the same time. A znode that exists when it is asked for has
// existed since the grant: so all of them did at the first of these moments.
func (c *claim) Confirm(ctx context.Context) error {
	if err := c.Err(); err != nil {
		return err
	}
	errs := c.each(func(l *lease.Lease) error { return l.Confirm(ctx) })
	if err := c.Err(); err != nil {
		return err
	}
	return joined(errs)
}

// RevocationRequested is closed at the first request for one of the locks.
func (c *claim) RevocationRequested() <-chan struct{} { return c.revocationRequested.Done() }

// Check is about all znodes. There is no transaction for those of several clients.
func (c *claim) Check() framework.Op {
	client := kit.Of(c.members[0].recipe.Client)
	var all []framework.Op
	for i, m := range c.members {
		if !client.SameClient(m.recipe.Client) {
			return client.CheckExists(c.held[0].Path(), func() error { return errSeveralClients })
		}
		all = append(all, c.held[i].Check())
	}
	return client.AllOf(all...)
}

// errSeveralClients is why a Check cannot be carried out.
var errSeveralClients = fmt.Errorf("%w: Check of a lease on the locks of several clients: no transaction can check all", framework.ErrInvalidArgument)

// Release releases all locks at the same time, so that it takes no longer than one.
func (c *claim) Release() error { return c.release((*lease.Lease).Release) }

// ReleaseAsync is Release that does not wait for the servers.
func (c *claim) ReleaseAsync() error { return c.release((*lease.Lease).ReleaseAsync) }

func (c *claim) release(one func(*lease.Lease) error) error {
	if err := c.Err(); errors.Is(err, lease.ErrReleased) {
		return err
	}
	c.mu.Lock()
	twice := c.released
	c.released = true
	loss := c.loss
	c.mu.Unlock()
	if twice {
		return c.Err()
	}
	errs := c.each(one)
	c.end()
	if loss != nil {
		return loss
	}
	return joined(errs)
}

// each calls f for all leases at the same time.
func (c *claim) each(f func(*lease.Lease) error) []error {
	errs := make([]error, len(c.held))
	var all sync.WaitGroup
	for i, l := range c.held {
		all.Go(func() { errs[i] = f(l) })
	}
	all.Wait()
	return errs
}

// joined returns one error for several, in one line.
func joined(errs []error) (all error) {
	for _, err := range errs {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
