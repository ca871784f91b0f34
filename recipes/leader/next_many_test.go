package leader_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Long ids of many candidates do not fit into one request.
func TestNextWithLongIDs(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("d"), "d")
		term := w.Acquire(a)
		many := w.Client("many")
		var all []*conformance.Attempt
		for i := range 40 {
			all = append(all, w.Start(newElection(t, many, fmt.Sprintf("%01000d", i)), lease.Forever))
		}
		named := w.Start(d, lease.Forever)
		w.After(time.Second)
		_, err := a.MakeNext(t.Context(), "d")
		require.NoError(t, err)
		for _, at := range all {
			at.Cancel(nil)
			_ = at.Failed()
		}
		require.NoError(t, term.Release())
		require.NoError(t, named.Granted().Release())
	})
}

// Many candidates that step back at once are not waited for one after another.
func TestNextDoesNotWaitForOneAfterAnother(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("d"), "d")
		operator := newElection(t, w.Client("operator"), "operator")
		term := w.Acquire(a)
		var all []*conformance.Attempt
		for c := range 4 {
			many := w.Client(fmt.Sprint("many", c))
			for i := range 25 {
				all = append(all, w.Start(newElection(t, many, fmt.Sprint(c, i)), lease.Forever))
			}
		}
		named := w.Start(d, lease.Forever)
		w.After(time.Second)
		var alone atomic.Int32 // reads that set a watch, one after another
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "operator" && c.Phase == zktest.PhaseBeforeApply && c.Watch {
				alone.Add(1)
			}
			return zktest.Pass
		})
		_, err := operator.MakeNext(t.Context(), "d")
		w.Server.SetFaults(nil)
		require.NoError(t, err)
		require.Less(t, alone.Load(), int32(12))
		for _, at := range all {
			at.Cancel(nil)
			_ = at.Failed()
		}
		require.NoError(t, term.Release())
		require.NoError(t, named.Granted().Release())
	})
}
