package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A transaction with Check has no effect when the znode of any permit is gone, even if
// the holder does not know that.
func TestCheckCoversAllPermits(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		c, operator := w.Client("a"), w.Client("operator")
		s := make(c, 3)
		for i := 0; ; i++ {
			held := take(w, s, 3)
			w.After(time.Second)
			nodes := w.Ephemerals(path)
			if i == len(nodes) {
				release(w, held)
				return
			}
			_, err := c.Multi(t.Context(), held.Check())
			require.NoError(t, err)
			w.Server.SetFaults(func(call zktest.Call) zktest.Action {
				if call.Client == "a" && call.Phase == zktest.PhaseEvent {
					return zktest.DropReply
				}
				return zktest.Pass
			})
			w.Remove(operator, nodes[i])
			require.NoError(t, held.Err(), "it does not know yet")
			_, err = c.Multi(t.Context(), framework.CreateOp("/written", nil, framework.Persistent), held.Check())
			require.ErrorIs(t, err, framework.ErrNoNode)
			w.Server.SetFaults(nil)
			_ = held.Release()
			w.Settle()
		}
	})
}
