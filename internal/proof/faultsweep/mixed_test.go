package faultsweep

import (
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/retry"
)

// The paths of the locks of aMixedMultiLock beside a mutex and a read-write lock, in an
// order of their own.
const (
	permitsPath     = "/sweep/permits"
	singleQueuePath = "/sweep/a-single-queue"
	stripesPath     = "/sweep/stripes"
	electionPath    = "/sweep/election"
)

// The locks on locks of different kinds that are swept.
var (
	// A client acquires locks of all kinds, or in turn some that can go together, or
	// such as another client may have at the same time. No one of them excludes all
	// that the others exclude.
	aMixedMultiLock = on("aMixedMultiLock", map[string]conformance.Recipe{
		path: {Slots: 1}, second: aReadWriteLock, permitsPath: aMixedSemaphore, singleQueuePath: aMixedSingleQueue,
		stripesPath: {Slots: 1}, electionPath: {Slots: 1},
	}, conformance.Recipe{
		New: func(c *framework.Client, path string) lease.Acquirer {
			rw := must(rwlock.New(c, second))
			all := multi(
				rw.Write(), must(mutex.New(c, path)), must(leader.New(c, electionPath)), must(striped.New(c, stripesPath, 3)).For(aKey),
				permitsOf(c, permitsPath, 3), permitsOf(c, singleQueuePath, 2, semaphore.WithSingleQueue()),
			)
			return &inTurn{all, multi(must(mutex.New(c, path)), rw.Read(), must(leader.New(c, electionPath))), atomic.Int32{}}
		},
		Readers: func(c *framework.Client, path string) lease.Acquirer {
			return conformance.FirstToken{Acquirer: multi(
				must(rwlock.New(c, second)).Read(), permitsOf(c, permitsPath, 1), permitsOf(c, singleQueuePath, 1, semaphore.WithSingleQueue()),
			)}
		},
		Shares: func(*lease.Lease) bool { return true }, // as far as all of its locks do
	})
	// After an unclean end each of the locks is closed.
	aDelayedMultiLock        = delayedLocks("aDelayedMultiLock", lockDelay)
	aBrieflyDelayedMultiLock = delayedLocks("aBrieflyDelayedMultiLock", shortDelay)
)

func multi(locks ...lease.Acquirer) lease.Acquirer {
	return must(multilock.New(locks, multilock.WithWaitLimit(retry.Constant(1103*time.Millisecond))))
}

// permitsOf takes some of three permits.
func permitsOf(c *framework.Client, path string, n int, opts ...semaphore.Option) lease.Acquirer {
	return &weighed{Semaphore: must(semaphore.New(c, path, 3, opts...)), asks: []int{n}}
}

// delayedLocks is a lock on two mutexes with a lock-delay.
func delayedLocks(name string, delay time.Duration) conformance.Recipe {
	both := of(func(c *framework.Client, path string) lease.Acquirer {
		locks := multi(must(mutex.New(c, path, mutex.WithLockDelay(delay))), must(mutex.New(c, second, mutex.WithLockDelay(delay))))
		return conformance.FirstToken{Acquirer: locks}
	})
	return timed(name, hold.Terms{LockDelay: delay}, on(name, map[string]conformance.Recipe{path: {Slots: 1}, second: {Slots: 1}}, both))
}
