package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/retry"
)

const forever = lease.Forever

// heldLease is a lease as a job uses it.
type heldLease interface {
	supervisedLease
	Tokens() []lease.Token
	Release() error
	ReleaseAsync() error
}

// A recipe is what a command must acquire before it may run.
type recipe struct {
	path string // as given; of several the first
	kind string // a lease.KindMutex, or another of these
	// acquire waits until it is acquired.
	acquire func(ctx context.Context, timeout time.Duration) (heldLease, error)
	// contenders lists the queue: the holders, then the waiting clients.
	contenders func(ctx context.Context) ([]lease.Contender, error)
	// mustWait reports whether a newcomer would wait for this queue.
	mustWait func(queue []lease.Contender) bool
	// stripes is how many stripes there are, if it is one of these, and stripe which
	// one it is; nil if it may be any.
	stripes int
	stripe  *int
	// run is the run that is recorded when the command has ended with 0; nil if none
	// is.
	run *recordedRun
	// parts are the locks of which this one is made, in the order in which they are
	// acquired. It has a queue of its own if there are none.
	parts []recipe
}

// queues are the recipes that have a queue: one for each path.
func (c recipe) queues() []recipe {
	if len(c.parts) > 0 {
		return c.parts
	}
	return []recipe{c}
}

// newRecipe returns the locks, the semaphore, the stripe or the run that the flags ask
// for.
func (f *runFlags) newRecipe(client *framework.Client) (recipe, error) {
	switch {
	case f.stripes.given:
		return f.newStripes(client)
	case f.once.given:
		return f.newRun(client)
	}
	var (
		parts []recipe
		locks []lease.Acquirer
	)
	for _, path := range f.paths {
		c, lock, err := f.recipeAt(client, path)
		if err != nil {
			return c, err
		}
		c.path, c.acquire = path, acquireFrom(lock)
		parts, locks = append(parts, c), append(locks, lock)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	all, err := multilock.New(locks, f.limitWaits(client.Session().Timeout())...)
	if err != nil {
		return recipe{}, err
	}
	c := recipe{path: f.paths[0], kind: parts[0].kind, acquire: acquireFrom(all), parts: parts}
	slices.SortFunc(c.parts, func(a, b recipe) int { return cmp.Compare(a.path, b.path) })
	return c, nil
}

// limitWaits leaves the command time before the first lock was held for --max-hold: of
// the time before TERM, a quarter at most is for waits while some locks are held.
func (f *runFlags) limitWaits(sessionTimeout time.Duration) (opts []multilock.Option) {
	grace, err := f.graceFor(sessionTimeout)
	if !f.maxHold.given || err != nil { // no lock is acquired with such a grace
		return nil
	}
	longest := max((f.maxHold.value-grace)/4/time.Duration(len(f.paths)-1), time.Millisecond)
	return append(opts, multilock.WithWaitLimit(retry.Exponential(min(longest, multilock.DefaultWaitLimit), longest)))
}

// recipeAt returns the lock or semaphore at one path, without its path and acquire.
func (f *runFlags) recipeAt(client *framework.Client, path string) (recipe, lease.Acquirer, error) {
	c := recipe{kind: lease.KindMutex, mustWait: anyContender}
	switch {
	case f.shared, f.write:
		lock, err := rwlock.New(client, path, rwlock.WithHolder(f.label), rwlock.WithMaxHold(f.maxHold.value),
			rwlock.WithMinHold(f.minHold.value), rwlock.WithLockDelay(f.lockDelay.value))
		if err != nil {
			return c, nil, err
		}
		c.kind, c.contenders = lease.KindWriter, lock.Contenders
		if !f.shared {
			return c, lock.Write(), nil
		}
		c.kind, c.mustWait = lease.KindReader, anyWriter
		return c, lock.Read(), nil
	case f.permits.given:
		permits, err := semaphore.New(client, path, f.permits.value.n, f.semaphoreOptions()...)
		if err != nil {
			return c, nil, err
		}
		queue := &sizedQueue{Semaphore: permits}
		c.kind, c.contenders, c.mustWait = lease.KindSemaphore, queue.contenders, queue.mustWait
		return c, permits, nil
	}
	// Not the write side of a read-write lock, although it excludes readers as well:
	// only nodes of a mutex exclude Java's InterProcessMutex.
	lock, err := mutex.New(client, path, mutex.WithHolder(f.label), mutex.WithMaxHold(f.maxHold.value),
		mutex.WithMinHold(f.minHold.value), mutex.WithLockDelay(f.lockDelay.value))
	if err != nil {
		return c, nil, err
	}
	c.contenders = lock.Contenders
	return c, lock, nil
}

// anyContender is mustWait where at most one client holds.
func anyContender(queue []lease.Contender) bool { return len(queue) > 0 }

// anyWriter is mustWait of a reader.
func anyWriter(queue []lease.Contender) bool {
	return slices.ContainsFunc(queue, func(ahead lease.Contender) bool { return ahead.Kind != lease.KindReader })
}

// acquireFrom adapts an Acquirer.
func acquireFrom(from lease.Acquirer) func(context.Context, time.Duration) (heldLease, error) {
	return func(ctx context.Context, timeout time.Duration) (heldLease, error) {
		acquired, err := from.Acquire(ctx, timeout)
		if err != nil {
			return nil, err // not a nil lease in an interface that is not nil
		}
		return acquired, nil
	}
}
