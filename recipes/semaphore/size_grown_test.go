package semaphore_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The own node of a waiter is deleted before the watch on it is set, and then the size
// grows.
func TestSizeGrowsAfterTheNodeOfAWaiterWasDeleted(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 1, semaphore.WithSingleQueue()), newSemaphore(t, w.Client("b"), 1, semaphore.WithSingleQueue())
		operator := w.Client("operator")
		held := take(w, a, 1)
		before := w.Ephemerals("/")
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "b" && c.Op == zktest.OpGetData && c.Phase == zktest.PhaseBeforeApply && c.Path != held.Path() && c.Path != path {
				return zktest.Fail(zktest.ThrottledOp)
			}
			return zktest.Pass
		})
		at := ask(w, b, 1)
		own := slices.DeleteFunc(w.Ephemerals("/"), func(node string) bool { return slices.Contains(before, node) })
		require.Len(t, own, 1)
		w.Remove(operator, own[0])
		require.NoError(t, a.Resize(t.Context(), 2))
		other := take(w, a, 1)
		w.Settle()
		require.True(t, at.Waiting(), "2 are held of 2")
		w.Server.SetFaults(nil)
		release(w, held, other)
		release(w, at.Granted())
	})
}
