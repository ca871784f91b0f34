package mutex_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// elsewhere makes every connection of a client but the first one go under another
// name, as to another server.
func elsewhere(w *conformance.World, first, later string) func(*framework.Config) {
	var dials atomic.Int32
	return func(cfg *framework.Config) {
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			name := first
			if dials.Add(1) > 1 {
				name = later
			}
			return w.Server.Dial(name)(ctx, network, addr)
		}
	}
}

// The old connection's bytes come late, when a new session has been made.
func TestLateNewsOfOldSessionDoNoHarm_Curator525(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", elsewhere(w, "a", "a, elsewhere"))
		held := w.Acquire(newMutex(t, a))
		w.Server.Stall("a", true)
		w.Server.RefuseConnections("a, elsewhere", true)
		<-held.Context().Done()
		w.Server.RefuseConnections("a, elsewhere", false)
		got := w.Start(newMutex(t, a), lease.Forever).Granted()
		w.After(time.Second)
		w.Server.Stall("a", false)
		w.After(5 * conformance.SessionTimeout)
		require.NoError(t, got.Err())
		require.Equal(t, framework.Connected, a.State())
		require.NoError(t, got.Release())
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

// Kazoo says "acquired" until it is told otherwise. Here the clock alone tells, at
// the very instant, before anything else may have had time to run: it is up to
// chance what runs first, so it is tried often.
func TestLeaseOfLostSessionIsNotValid_Kazoo15(t *testing.T) {
	for range 40 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a := w.Client("a")
			held := w.Acquire(newMutex(t, a))
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
			w.After(conformance.SessionTimeout/3 - time.Second)
			require.NoError(t, held.Err(), "a broken connection alone does not end it")
			until := held.TrustedUntil()
			time.Sleep(time.Until(until) - time.Nanosecond)
			require.NoError(t, held.Err())
			time.Sleep(time.Nanosecond)
			require.ErrorIs(t, held.Err(), lease.ErrLost)
			require.ErrorIs(t, held.Err(), framework.ErrTrustExpired)
		})
	}
}
