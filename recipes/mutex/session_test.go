package mutex_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Bytes of the old connection arrive late, in the time of a new session.
func TestLateBytesOfAnOldSession_Curator525(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", w.Elsewhere("a", "a, elsewhere"))
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

// Kazoo says "acquired" until an event says otherwise. Here the clock alone decides, at
// the exact moment, before other goroutines may have run. Their order varies, so it is
// tried often.
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

// The trust deadline of a lost lease does not move any more: no quorum vouches for its
// znode.
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

func TestConfirm(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a")))
		counts := w.Requests(func() { require.NoError(t, held.Confirm(t.Context())) })
		require.Equal(t, map[zktest.Op]int{zktest.OpMulti: 1}, counts, "one round trip")

		w.Server.Pause()
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := held.Confirm(short)
		require.ErrorIs(t, err, context.DeadlineExceeded, "no answer is not a loss")
		require.NotErrorIs(t, err, lease.ErrLost)
		w.Server.Resume()
		require.NoError(t, held.Confirm(t.Context()))
		require.NoError(t, held.Release())
		require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrReleased)
	})
}
