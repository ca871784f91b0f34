package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A multi-lock of one mutex is that mutex.
func TestMultiLockOfOne(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "multi-lock of one", Slots: 1, HandsOver: true, Zero: new(multilock.Lock), Foreign: latches,
		New: func(c *framework.Client, path string) lease.Acquirer {
			return must(multilock.New([]lease.Acquirer{must(mutex.New(c, path))}))
		},
	})
}

func TestMultiLock(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name: "multi-lock", Slots: 1, Locks: 2, Zero: new(multilock.Lock), Foreign: latches,
		New: func(c *framework.Client, path string) lease.Acquirer {
			return conformance.FirstToken{Acquirer: must(multilock.New([]lease.Acquirer{must(mutex.New(c, path)), must(mutex.New(c, path+" too"))}, multilock.WithWaitLimit(retry.Constant(time.Minute))))}
		},
	})
}

// A release of several permits waits for the answer. When a multi-lock gives up, they
// are left to the background, so that Acquire takes no longer than its timeout.
func TestMultiLockThatGivesUpWaitsForNoAnswer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		permits, other := must(semaphore.New(a, "/several/a", 2)), must(mutex.New(a, "/several/b"))
		both := must(multilock.New([]lease.Acquirer{permits.Weight(2), other}))
		holder := w.Acquire(must(mutex.New(b, "/several/b")))
		waits := w.Start(both, 300*time.Millisecond)
		w.Server.On(zktest.OpMulti, "/several/a").Client("a").Optional().Before().Delay(time.Second)
		w.Server.On(zktest.OpDelete, "/several/a").Client("a").Optional().Before().Delay(time.Second)
		require.ErrorIs(t, waits.Failed(), lease.ErrTimeout)
		require.Less(t, waits.Took, 400*time.Millisecond)
		require.NoError(t, holder.Release())
		require.NoError(t, w.Acquire(both).Release())
	})
}

// When a multi-lock gives up, no caller has got the locks that it had: they are free
// without a minimum hold time, and without a lock-delay.
func TestMultiLockThatGivesUpFreesItsLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		times := conformance.Times{MinHold: time.Hour, LockDelay: time.Hour}
		a, b := w.Client("a"), w.Client("b")
		w.Acquire(timedMutex(times)(b, "/conformance/taken"))
		both := must(multilock.New([]lease.Acquirer{timedMutex(times)(a, "/conformance/free"), timedMutex(times)(a, "/conformance/taken")}))
		for _, timeout := range []time.Duration{0, 300 * time.Millisecond} {
			at := w.Start(both, timeout)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
			require.Less(t, at.Took, 400*time.Millisecond)
			w.Settle()
			require.NoError(t, w.Start(timedMutex(conformance.Times{LockDelay: time.Hour})(b, "/conformance/free"), 0).Granted().Release())
		}
	})
}

// A lock of a multi-lock that is lost is given up, also if its owner held it before.
// Until the multi-lock is released, nobody has said that the work under it has ended.
func TestLockDelayOfALockThatIsGivenUp(t *testing.T) {
	for _, released := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			const delay = 20 * time.Second
			construct := timedMutex(conformance.Times{LockDelay: delay})
			a, b := w.Client("a"), w.Client("b")
			held := construct(a, "/conformance/held")
			outer := w.Acquire(held)
			both := must(multilock.New([]lease.Acquirer{held, construct(a, "/conformance/lost")}))
			several := w.StartWith(outer.Context(), both, time.Minute).Granted()
			waits := w.Start(construct(b, "/conformance/held"), lease.Forever)
			w.After(time.Second)
			w.Remove(b, w.Ephemerals("/conformance/lost")[0])
			w.Settle()
			require.ErrorIs(t, several.Err(), lease.ErrDeleted)
			require.NoError(t, outer.Release())
			if released {
				require.ErrorIs(t, several.Release(), lease.ErrDeleted)
				w.Settle()
				require.False(t, waits.Waiting(), "there is no delay")
			} else {
				w.After(conformance.SessionTimeout/6 + delay - time.Millisecond)
				require.True(t, waits.Waiting(), "there is a delay")
				w.After(2 * time.Millisecond)
				require.False(t, waits.Waiting())
			}
			require.NoError(t, waits.Granted().Release())
		})
	}
}
