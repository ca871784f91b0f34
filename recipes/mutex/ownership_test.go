package mutex_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestConfirm(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		counts := requests(w, func() { require.NoError(t, held.Confirm(t.Context())) })
		require.Equal(t, map[zktest.Op]int{zktest.OpMulti: 1}, counts, "one round trip")

		w.Server.Pause()
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := held.Confirm(short)
		require.ErrorIs(t, err, context.DeadlineExceeded, "no answer is not a loss")
		require.NotErrorIs(t, err, lease.ErrLost)
		w.Server.Resume()
		require.NoError(t, held.Confirm(t.Context()))

		w.Remove(b, held.Path())
		err = held.Confirm(t.Context())
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, lease.ErrDeleted)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrReleased)
	})
}
