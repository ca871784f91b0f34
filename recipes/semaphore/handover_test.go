package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A client of the same session that leaves the queue of Curator's layout lets the next
// one in when its node is deleted, not before. A mutex on that queue stands for it: it
// is the one that would hand its slot over.
func TestDoorOfCuratorsLayoutIsNotHandedOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		s := newSemaphore(t, a, 1)
		require.NoError(t, take(w, s, 1).Release())
		door, err := mutex.New(a, path+"/locks")
		require.NoError(t, err)
		held := w.Acquire(door)
		next := ask(w, s, 1)
		w.After(100 * time.Millisecond)
		refused := w.Server.On(zktest.OpDelete, held.Path()).Client("a").Always().Fail(zktest.ThrottledOp)
		w.Server.ResetCounts()
		freed := make(chan error, 1)
		go func() { freed <- held.Release() }()
		w.After(400 * time.Millisecond)
		require.Zero(t, w.Server.Count(zktest.OpGetChildren2), "it does not look at the permits yet")
		require.True(t, next.Waiting())
		refused.Remove()
		require.NoError(t, <-freed)
		require.NoError(t, next.Granted().Release())
	})
}

// The size shrinks while the event for that is on its way to a session, and there a
// lease is released: what was resized is not handed over by the old size.
func TestSizeShrinksUnseenBeforeAHandOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 2, semaphore.WithSingleQueue()), newSemaphore(t, w.Client("b"), 2, semaphore.WithSingleQueue())
		held := []*lease.Lease{take(w, a, 1), take(w, a, 1)}
		next := ask(w, a, 1)
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && c.Phase == zktest.PhaseEvent && c.Path == path {
				return zktest.Delay(500 * time.Millisecond)
			}
			return zktest.Pass
		})
		require.NoError(t, b.Resize(t.Context(), 1))
		release(w, held[0])
		w.Settle()
		require.True(t, next.Waiting(), "granted by the old size: 1 is held of 1")
		release(w, held[1])
		release(w, next.Granted())
	})
}
