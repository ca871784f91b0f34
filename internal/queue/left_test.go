package queue_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A create that travels with others is sent again when one of them was refused. If its
// caller has left meanwhile, no listing follows it.
func TestNoListingForACallerThatHasLeft(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		other := func(name string) lease.Acquirer {
			m, err := mutex.New(a, "/others/"+name)
			require.NoError(t, err)
			return m
		}
		names := []string{"1", "2", "3", "4", "5", "6", "7", "8", "missing"} // the last waits for the others
		for _, name := range names {
			require.NoError(t, w.Acquire(other(name)).Release())
		}
		require.NoError(t, operator.Delete(t.Context(), "/others/missing", -1))
		held := w.Acquire(mutexOf(t, operator))
		waits := w.Start(mutexOf(t, a), lease.Forever)
		w.After(time.Second)

		var listings atomic.Int32
		w.Server.ResetCounts()
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Op == zktest.OpGetChildren2 && c.Path == path && c.Phase == zktest.PhaseBeforeApply {
				listings.Add(1)
			}
			return zktest.Pass
		})
		w.Server.On(zktest.OpMulti, "/others").Client("a").Delay(500 * time.Millisecond)
		w.Server.Stall("a", true)
		var all []*conformance.Attempt
		for _, name := range names {
			all = append(all, w.Start(other(name), lease.Forever))
			w.Settle()
		}
		leaves := w.Start(mutexOf(t, a), 100*time.Millisecond)
		w.Settle()
		w.Server.Stall("a", false)
		w.After(time.Second)
		require.ErrorIs(t, leaves.Failed(), lease.ErrTimeout)
		require.Equal(t, 1, w.Server.CountOf("a", zktest.OpMultiRead), "behind the group")
		require.Zero(t, listings.Load())
		w.Server.SetFaults(nil)
		for _, one := range all {
			require.NoError(t, one.Granted().Release())
		}
		require.NoError(t, held.Release())
		require.NoError(t, waits.Granted().Release())
	})
}
