package mutex_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

func TestMaxHold(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		m := newMutex(t, a, mutex.WithMaxHold(5*time.Second))
		held := w.Acquire(m)
		inner, err := m.Acquire(held.Context(), 0)
		require.NoError(t, err)
		attempt := w.Start(newMutex(t, b), lease.Forever)
		w.After(5*time.Second - time.Millisecond)
		require.NoError(t, held.Err())
		require.LessOrEqual(t, time.Until(held.TrustedUntil()), time.Millisecond)
		w.After(time.Millisecond)
		require.ErrorIs(t, held.Err(), lease.ErrMaxHold)
		require.ErrorIs(t, context.Cause(inner.Context()), lease.ErrMaxHold)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		w.After(conformance.SessionTimeout/6 - 10*time.Millisecond)
		require.True(t, attempt.Waiting(), "the work has time to stop")
		w.After(20 * time.Millisecond)
		require.False(t, attempt.Waiting())
		require.NoError(t, attempt.Granted().Release())
		require.ErrorIs(t, inner.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)

		held = w.Acquire(m)
		attempt = w.Start(newMutex(t, b), lease.Forever)
		w.After(5 * time.Second)
		require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
		w.Settle()
		require.False(t, attempt.Waiting(), "a release leaves at once")
	})
}

// A fork whose timeout ends at the moment at which the hold is lost gets the loss, not
// the timeout.
func TestForkGetsTheLossFirst(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"), mutex.WithMaxHold(time.Second))
		held := w.Acquire(m)
		ctx := lease.Fork(context.WithoutCancel(held.Context()))
		inside := w.StartWith(ctx, m, 0).Granted()
		at := w.StartWith(ctx, m, time.Second)
		require.ErrorIs(t, at.Failed(), lease.ErrMaxHold)
		require.ErrorIs(t, at.Err, lease.ErrLost)
		require.NotErrorIs(t, at.Err, lease.ErrTimeout)
		require.ErrorIs(t, inside.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}
