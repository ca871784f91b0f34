package lockdelay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Waiters of one client that have just joined are granted one after the other, without
// a pause, and so are more of them than take part in the queue at a time.
func TestManyWaitersOfOneClient(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		m := delayed(t, w.Client("a"))
		held := w.Acquire(m)
		var waiting []*conformance.Attempt
		for range 200 {
			waiting = append(waiting, w.Begin(t.Context(), m, lease.Forever))
		}
		w.Settle()
		begun := time.Now()
		require.NoError(t, held.Release())
		for range waiting {
			w.Settle()
			next := slices.IndexFunc(waiting, func(at *conformance.Attempt) bool { return !at.Waiting() && at.Lease.Err() == nil })
			require.GreaterOrEqual(t, next, 0)
			require.NoError(t, waiting[next].Lease.Release())
		}
		require.Less(t, time.Since(begun), 20*time.Millisecond)
	})
}
