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

// The size is read again, then it shrinks and a lease ahead ends: the end is known when
// the waiter decides, the new size is not.
func TestSizeShrinksAfterItWasReadAndALeaseEnds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 2, semaphore.WithSingleQueue()), newSemaphore(t, w.Client("b"), 2, semaphore.WithSingleQueue())
		for i := range 30 {
			held := []*lease.Lease{take(w, a, 1), take(w, a, 1)}
			at := ask(w, b, 1)
			w.After(time.Second)
			struck := false
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Client != "b" || c.Op != zktest.OpGetData || c.Path != path || c.Watch || c.Phase != zktest.PhaseAfterApply || struck {
					return zktest.Pass
				}
				struck = true
				return zktest.Delay(500 * time.Millisecond)
			})
			require.NoError(t, a.Resize(t.Context(), 2))
			w.Settle()
			require.True(t, struck, "it has read 2, and waits for the answer")
			require.NoError(t, a.Resize(t.Context(), 1))
			release(w, held[0])
			w.After(time.Second)
			require.True(t, at.Waiting(), "round %d: 1 is held of 1", i)
			release(w, held[1])
			release(w, at.Granted())
			require.NoError(t, a.Resize(t.Context(), 2))
		}
	})
}
