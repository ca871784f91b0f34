package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Another client replaces a waiter's node by its own before the waiter has read it: the
// waiter is not granted that node, and joins again.
func TestReplacedNodeIsNotGranted(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, operator := w.Client("a"), w.Client("b"), w.Client("operator")
		held, err := mutexOf(t, a).Acquire(t.Context(), lease.Forever)
		require.NoError(t, err)
		before := w.Ephemerals("/")
		struck := false
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "b" && c.Op == zktest.OpGetData && c.Phase == zktest.PhaseBeforeApply && c.Path != held.Path() && !struck {
				struck = true
				return zktest.Delay(500 * time.Millisecond)
			}
			return zktest.Pass
		})
		waiting, line := make(chan *lease.Lease, 1), mutexOf(t, b)
		go func() {
			handle, err := line.Acquire(t.Context(), lease.Forever)
			if err == nil {
				waiting <- handle
			}
		}()
		w.Settle()
		require.True(t, struck)
		own := slices.DeleteFunc(w.Ephemerals("/"), func(node string) bool { return slices.Contains(before, node) })
		require.Len(t, own, 1)
		w.Remove(operator, own[0])
		_, err = operator.Create(t.Context(), own[0], nil, framework.Ephemeral)
		require.NoError(t, err)
		w.After(time.Second)
		require.NoError(t, held.Release())
		got := <-waiting
		require.NotEqual(t, own[0], got.Path())
		info, ok := w.Server.Node(got.Path())
		require.True(t, ok)
		require.Equal(t, b.Session().ID(), info.EphemeralOwner)
		require.EqualValues(t, info.Czxid, got.Token())
		require.NoError(t, got.Release())
	})
}
