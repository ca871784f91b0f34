package conformance_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// delay is a lock-delay, for which only those wait that come after an unclean end.
const delay = time.Second

func restedMutex(c *framework.Client, path string) lease.Acquirer {
	return must(mutex.New(c, path, mutex.WithMinHold(time.Second)))
}

func delayedMutex(c *framework.Client, path string) lease.Acquirer {
	return must(mutex.New(c, path, mutex.WithLockDelay(delay)))
}

func delayedElection(c *framework.Client, path string) lease.Acquirer {
	return must(leader.New(c, path, leader.WithLockDelay(delay)))
}

func delayedWrite(c *framework.Client, path string) lease.Acquirer {
	return must(rwlock.New(c, path, rwlock.WithLockDelay(delay))).Write()
}

func delayedRead(c *framework.Client, path string) lease.Acquirer {
	return must(rwlock.New(c, path, rwlock.WithLockDelay(delay))).Read()
}

func delayedStripe(c *framework.Client, path string) lease.Acquirer {
	return must(striped.New(c, path, 16, striped.WithLockDelay(delay))).For("key")
}

func delayedRuns(c *framework.Client, path string) lease.Acquirer {
	return must(once.New(c, path, once.WithLockDelay(delay))).Key("key")
}

var (
	// delayedQueued are those of queued.
	delayedQueued = []maker{delayedMutex, delayedElection, delayedWrite, delayedRead}
	threeDelayed  = permits(3, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay))
)

func newDelayedRun(w *world) price { return newRunWith(w, once.WithLockDelay(delay)) }

// inNewSession acquires and releases a known path for the first time in a session.
func inNewSession(make maker) func(w *world) price {
	return func(w *world) price {
		known(w, make, "b")
		c := w.Client("a")
		give(w, w.Acquire(make(c, at+"/other")))
		return pay(w, func() { give(w, w.Acquire(make(c, at))) })
	}
}

// removedWithParent is removed after the servers have also removed what was not empty
// the first time.
func removedWithParent(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		w.After(zktest.DefaultReapInterval * 5 / 2)
		return pay(w, func() { give(w, w.Acquire(a)) })
	}
}

// endsUncleanly has a client hold a path, and its session end.
func endsUncleanly(w *world, make maker) {
	w.Acquire(make(w.Client("b"), at))
	w.Expire(w.Known("b"))
	w.Settle()
	require.NoError(w.T, w.Known("b").Close())
}

// unclean acquires after an unclean end, for which it waits, and holds for a while.
func unclean(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		endsUncleanly(w, make)
		begun := time.Now()
		return pay(w, func() {
			l := w.Acquire(a)
			require.Equal(w.T, delay, time.Since(begun))
			w.After(soon) // it may be watched at once, as its node is old
			give(w, l)
		})
	}
}

// uncleanBefore does not wait: another client has tried long before.
func uncleanBefore(make maker) func(w *world) price {
	return func(w *world) price {
		a := known(w, make, "a")
		endsUncleanly(w, make)
		require.ErrorIs(w.T, w.Start(make(w.Client("c"), at), 0).Failed(), lease.ErrLockDelay)
		w.After(2*delay + 1)
		begun := time.Now()
		p := pay(w, func() { give(w, w.Acquire(a)) })
		require.Zero(w.T, time.Since(begun))
		return p
	}
}
