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
