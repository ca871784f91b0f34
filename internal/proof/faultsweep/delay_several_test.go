package faultsweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The cases of a lock-delay that need several locks, or several holders.

// delayedPermits are those of a semaphore.
func delayedPermits(w *conformance.World, client string, n int) lease.Acquirer {
	return must(semaphore.New(w.Named(client), path, 3, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay))).Weight(n)
}

// Two contenders remove one record at the same time.
func TestAnotherContenderRemovesTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Acquire(delayedPermits(w, "gone", 3))
		w.Expire(w.Known("gone"))
		first, late := w.Start(delayedPermits(w, "a", 1), lease.Forever), w.Start(delayedPermits(w, "b", 1), lease.Forever)
		joined := w.Ephemerals(path)
		for i, client := range []string{"a", "b"} {
			w.Server.On(zktest.OpMulti, path).Client(client).Delay(time.Duration(1+i) * 100 * time.Millisecond)
		}
		first.Granted()
		late.Granted()
		require.Equal(t, joined, w.Ephemerals(path))
		require.Len(t, records(w, path), 2)
	})
}

// A contender has to find room beside those who hold, and those who have ended.
func TestHoldersThatLiveAndHaveEndedCountTogether(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Acquire(delayedPermits(w, "a", 2))
		w.Acquire(delayedPermits(w, "gone", 1))
		w.Expire(w.Known("gone"))
		next := w.Start(delayedPermits(w, "b", 1), lease.Forever)
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay)
	})
}

// A multi-lock that has lost one of its locks gives up the others. That is no release,
// also when a release of the lock that it has re-entered comes first.
func TestLockThatIsGivenUpIsClosed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, operator := w.Client("a"), w.Client("operator")
		m := delayedBy(delay, c)
		outer := w.Acquire(m)
		held := w.StartWith(outer.Context(), must(multilock.New([]lease.Acquirer{m, must(mutex.New(c, second))})), time.Minute).Granted()
		w.After(time.Second)
		w.Remove(operator, w.Ephemerals(second)[0])
		w.Settle()
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.NoError(t, outer.Release())
		w.After(conformance.SessionTimeout / 6)
		require.Empty(t, w.Ephemerals(path))
		next := w.Start(delayedBy(delay, w.Client("b")), lease.Forever)
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay)
	})
}

func TestSeveralLocksAreRecorded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, given := range []time.Duration{delay, delay, 0} { // the first time there are no parents yet
			both := must(multilock.New([]lease.Acquirer{delayedBy(given, c), must(mutex.New(c, second, mutex.WithLockDelay(given)))}))
			held := w.Acquire(both)
			require.Len(t, records(w, path), 1)
			require.Len(t, records(w, second), 1)
			require.NoError(t, held.Release())
			w.Settle()
			require.Empty(t, records(w, path))
			require.Empty(t, records(w, second))
		}
	})
}

// What is not granted although it was admitted is not recorded any more: the number of
// stripes changes while a client waits.
func TestStripeOfAnotherNumberIsNotRecorded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		stripes := func(client string) *striped.Locks {
			return must(striped.New(w.Named(client), path, sizes[0], striped.WithLockDelay(delay)))
		}
		held := w.Acquire(stripes("a").For(aKey))
		resized := make(chan error)
		go func() {
			_, err := stripes("b").Resize(t.Context(), sizes[1], time.Minute)
			resized <- err
		}()
		w.After(time.Second)
		late := w.Start(stripes("c").For(aKey), time.Minute)
		require.NoError(t, held.Release())
		require.NoError(t, <-resized)
		require.ErrorIs(t, late.Failed(), striped.ErrSizeMismatch)
		w.After(time.Second)
		for _, child := range w.Server.Children(path) {
			require.Empty(t, records(w, path+"/"+child))
		}
	})
}
