package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The deadline that work under a lease goes by does not move behind when the lease has been
// lost: no quorum vouches for its znode any more.
func TestTrustedUntilOfALostLeaseStays(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := w.Acquire(newMutex(t, w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = true })))
		w.After(2 * conformance.SessionTimeout)
		require.NoError(t, w.Known("a").CreateParents(t.Context(), "/other/x")) // the newest transaction
		w.Server.On(zktest.OpMulti, "").Always().DropReply()                    // no quorum
		w.After(conformance.SessionTimeout * 9 / 20)
		require.NoError(t, l.Err())
		until := l.TrustedUntil()
		w.Server.DropConnections("a")
		w.After(100 * time.Millisecond)
		require.Error(t, l.Err())
		w.After(200 * time.Millisecond)
		moved := l.TrustedUntil().Sub(until)
		require.LessOrEqual(t, moved, time.Duration(0), "moved by %.2f of the timeout", float64(moved)/float64(conformance.SessionTimeout))
	})
}
