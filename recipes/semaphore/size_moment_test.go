package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// asksForSize is the fault that strikes when a client that waits in a single queue
// reads the size with a watch.
func asksForSize(client string, phase zktest.Phase, strike func() zktest.Action) func(zktest.Call) zktest.Action {
	return func(c zktest.Call) zktest.Action {
		if c.Client == client && c.Op == zktest.OpGetData && c.Path == path && c.Watch && c.Phase == phase {
			return strike()
		}
		return zktest.Pass
	}
}

// The size grows or shrinks between the decision to wait and the watch on the size, so
// that no event tells.
func TestSizeChangesBeforeItIsWatched(t *testing.T) {
	for name, to := range map[string]int{"to more": 3, "to fewer": 1} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := newSemaphore(t, w.Client("a"), 2, semaphore.WithSingleQueue()), newSemaphore(t, w.Client("b"), 2, semaphore.WithSingleQueue())
				held := []*lease.Lease{take(w, a, 1), take(w, a, 1)}
				struck := false
				w.Server.SetFaults(asksForSize("b", zktest.PhaseBeforeApply, func() zktest.Action {
					if struck {
						return zktest.Pass
					}
					struck = true
					return zktest.Delay(500 * time.Millisecond)
				}))
				at := ask(w, b, 1)
				require.True(t, struck)
				require.NoError(t, a.Resize(t.Context(), to))
				w.After(time.Second)
				if to == 1 {
					require.True(t, at.Waiting())
					release(w, held[0])
					w.After(time.Second)
					require.True(t, at.Waiting(), "1 is held of 1")
					release(w, held[1])
				}
				release(w, at.Granted())
				if to > 2 {
					release(w, held...)
				}
			})
		})
	}
}

// The size shrinks, a lease ahead ends, and both events reach the waiter at once, in
// either order: the old size must not decide.
func TestSizeShrinksAtTheMomentALeaseEnds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 2, semaphore.WithSingleQueue()), newSemaphore(t, w.Client("b"), 2, semaphore.WithSingleQueue())
		for range 30 {
			held := []*lease.Lease{take(w, a, 1), take(w, a, 1)}
			struck := false
			w.Server.SetFaults(asksForSize("b", zktest.PhaseAfterApply, func() zktest.Action {
				if struck {
					return zktest.Pass
				}
				struck = true
				return zktest.Delay(500 * time.Millisecond)
			}))
			at := ask(w, b, 1)
			require.True(t, struck, "all else is watched")
			require.NoError(t, a.Resize(t.Context(), 1))
			release(w, held[0])
			w.After(time.Second)
			require.True(t, at.Waiting(), "1 is held of 1")
			release(w, held[1])
			release(w, at.Granted())
			require.NoError(t, a.Resize(t.Context(), 2))
		}
	})
}

// The size is not read again until an event tells that it has changed.
func TestSizeThatHasNotChangedIsReadOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 3, semaphore.WithSingleQueue()), newSemaphore(t, w.Client("b"), 3, semaphore.WithSingleQueue())
		held := []*lease.Lease{take(w, a, 1), take(w, a, 1), take(w, a, 1)}
		asks := 0
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "b" && c.Op == zktest.OpGetData && c.Path == path && c.Phase == zktest.PhaseBeforeApply {
				asks++
			}
			return zktest.Pass
		})
		at := ask(w, b, 1)
		w.After(time.Second)
		require.Equal(t, 2, asks, "once to decide, once with a watch")
		require.NoError(t, a.Resize(t.Context(), 1))
		w.After(time.Second)
		for i := range held {
			require.True(t, at.Waiting(), "%d released", i)
			release(w, held[i])
			w.After(time.Second)
		}
		require.Equal(t, 4, asks, "and the same again after the one change")
		release(w, at.Granted())
	})
}
