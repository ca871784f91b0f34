package multilock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// A lock that was only re-entered is kept from others for as long as any other of the
// lease that is lost, also when the lease that had it first is released.
func TestReenteredLockIsKeptAfterALoss(t *testing.T) {
	for _, releases := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			operator, c := w.Client("operator"), w.Client("a")
			outer := w.Acquire(newMutex(t, c, cart))
			held := w.StartWith(outer.Context(), both(t, c), time.Minute).Granted()
			w.After(time.Second)
			next := w.Start(newMutex(t, operator, cart), lease.Forever)
			w.Remove(operator, w.Ephemerals(stock)[0])
			w.Settle()
			require.ErrorIs(t, held.Err(), lease.ErrLost)
			require.NoError(t, outer.Release())
			w.After(windDown - 10*time.Millisecond)
			require.True(t, next.Waiting())
			if releases {
				require.ErrorIs(t, held.Release(), lease.ErrLost)
			} else {
				w.After(20 * time.Millisecond)
			}
			w.Settle()
			require.NoError(t, next.Granted().Release())
			require.ErrorIs(t, held.Err(), map[bool]error{true: lease.ErrReleased, false: lease.ErrLost}[releases])
		})
	}
}

// The time that CloseGrace gives is given at all locks, in whatever order they are
// found lost: also one that was only re-entered, and those of further sessions.
func TestCloseGraceAtAllLocks(t *testing.T) {
	const grace = 5 * windDown
	for i := range 10 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c, other := w.Client("a", func(cfg *framework.Config) {
				cfg.CloseGrace, cfg.MaxEphemeralBytes = grace, 120 // room for two nodes in each session
			}), w.Client("other")
			outer := w.Acquire(newMutex(t, c, cart))
			var all []lease.Acquirer
			var next []*conformance.Attempt
			for _, path := range []string{cart, stock, "/locks/third", "/locks/fourth"} {
				all = append(all, newMutex(t, c, path))
			}
			held := w.StartWith(outer.Context(), lockOn(t, all), time.Minute).Granted()
			require.Greater(t, len(w.Server.Sessions()), 2)
			for _, path := range []string{cart, stock, "/locks/third", "/locks/fourth"} {
				next = append(next, w.Start(newMutex(t, other, path), lease.Forever))
			}
			w.After(time.Duration(i) * 300 * time.Millisecond)
			closed := make(chan error, 1)
			go func() { closed <- c.Close() }()
			w.After(100 * time.Millisecond)
			require.ErrorIs(t, outer.Release(), framework.ErrClosed)
			w.After(grace - 200*time.Millisecond)
			for _, at := range next {
				require.True(t, at.Waiting())
			}
			require.ErrorIs(t, held.Release(), framework.ErrClosed)
			require.NoError(t, <-closed)
			for _, at := range next {
				require.NoError(t, at.Granted().Release())
			}
		})
	}
}

// The cause of the context is the loss, also where the lock that was lost is not among
// those that its context derives from.
func TestCauseOfTheContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator, c := w.Client("operator"), w.Client("a")
		catalog, err := rwlock.New(c, "/locks/catalog")
		require.NoError(t, err)
		writing := w.Acquire(catalog.Write())
		held := w.StartWith(writing.Context(), lockOn(t, []lease.Acquirer{newMutex(t, c, cart), catalog.Read()}), time.Minute).Granted()
		require.NoError(t, writing.Release())
		w.After(time.Second)
		require.NoError(t, held.Context().Err(), "it has downgraded")
		again := w.StartWith(held.Context(), catalog.Read(), 0).Granted()
		w.Remove(operator, w.Ephemerals(cart)[0])
		w.Settle()
		require.ErrorIs(t, held.Err(), lease.ErrDeleted)
		require.Equal(t, held.Err(), context.Cause(held.Context()))
		require.NoError(t, again.Release())
		require.ErrorIs(t, held.Release(), lease.ErrDeleted)
	})
}
