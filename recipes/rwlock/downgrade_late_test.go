package rwlock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A listing that shows the writer's node, and not yet the reader's, is handled after
// the event of the writer's deletion: it does not admit the next writer.
func TestListingFromBeforeADowngradeIsHandledAfterIt(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLock(t, w.Client("a")), newLock(t, w.Client("b"))
		for i := range 10 {
			writing := w.Acquire(a.Write())
			first := w.Start(b.Write(), lease.Forever)
			w.After(time.Second)
			listings := 0
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Client != "b" || c.Op != zktest.OpGetChildren2 {
					return zktest.Pass
				}
				if c.Phase == zktest.PhaseBeforeApply {
					if listings++; listings == 1 { // when the create is answered
						return zktest.Delay(100 * time.Millisecond)
					}
				}
				switch {
				case listings == 1 && c.Phase == zktest.PhaseAfterApply:
					return zktest.Fail(zktest.ThrottledOp) // the next one is waited for by a goroutine
				case listings == 2 && c.Phase == zktest.PhaseAfterApply:
					return zktest.Delay(500 * time.Millisecond)
				}
				return zktest.Pass
			})
			second := w.Start(b.Write(), lease.Forever)
			w.After(150 * time.Millisecond)
			require.Equal(t, 2, listings)
			reading := downgrade(t, a, writing)
			w.After(time.Second)
			require.True(t, first.Waiting(), "round %d", i)
			require.NoError(t, reading.Release())
			require.NoError(t, first.Granted().Release())
			require.NoError(t, second.Granted().Release())
			w.Server.SetFaults(nil)
		}
	})
}
