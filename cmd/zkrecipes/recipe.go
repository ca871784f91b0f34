package main

import (
	"context"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

const forever = lease.Forever

// heldLease is a lease as a job uses it.
type heldLease interface {
	supervisedLease
	Token() lease.Token
	Release() error
}

// A recipe is what a command must acquire before it may run.
type recipe struct {
	kind string // a lease.KindMutex, or another of these
	// acquire waits until it is acquired.
	acquire func(ctx context.Context, timeout time.Duration) (heldLease, error)
	// contenders lists the queue: the holders, then the waiting clients.
	contenders func(ctx context.Context) ([]lease.Contender, error)
	// mustWait reports whether a newcomer would wait for this queue.
	mustWait func(queue []lease.Contender) bool
}

// newRecipe returns the lock or semaphore that the flags ask for.
func (f *runFlags) newRecipe(client *framework.Client) (recipe, error) {
	c := recipe{kind: lease.KindMutex, mustWait: anyContender}
	switch {
	case f.shared, f.write:
		lock, err := rwlock.New(client, f.path, rwlock.WithHolder(f.label), rwlock.WithMaxHold(f.maxHold.value))
		if err != nil {
			return c, err
		}
		c.kind, c.contenders, c.acquire = lease.KindWriter, lock.Contenders, acquireFrom(lock.Write())
		if f.shared {
			c.kind, c.acquire = lease.KindReader, acquireFrom(lock.Read())
			c.mustWait = func(queue []lease.Contender) bool {
				return slices.ContainsFunc(queue, func(ahead lease.Contender) bool { return ahead.Kind != lease.KindReader })
			}
		}
	case f.permits.given:
		permits, err := semaphore.New(client, f.path, f.permits.value, semaphore.WithHolder(f.label), semaphore.WithMaxHold(f.maxHold.value))
		if err != nil {
			return c, err
		}
		c.kind, c.contenders, c.acquire = lease.KindSemaphore, permits.Contenders, acquireFrom(permits)
		c.mustWait = func(queue []lease.Contender) bool { return len(queue) >= f.permits.value }
	default:
		// Not the write side of a read-write lock, although it excludes readers as
		// well: only nodes of a mutex exclude Java's InterProcessMutex.
		lock, err := mutex.New(client, f.path, mutex.WithHolder(f.label), mutex.WithMaxHold(f.maxHold.value))
		if err != nil {
			return c, err
		}
		c.contenders, c.acquire = lock.Contenders, acquireFrom(lock)
	}
	return c, nil
}

// anyContender is mustWait where at most one client holds.
func anyContender(queue []lease.Contender) bool { return len(queue) > 0 }

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
