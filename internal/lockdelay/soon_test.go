package lockdelay_test

import (
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
			granted := 0
			for _, at := range waiting {
				if !at.Waiting() && at.Lease.Err() == nil {
					granted++
					require.NoError(t, at.Lease.Release())
				}
			}
			require.Equal(t, 1, granted)
		}
		require.Less(t, time.Since(begun), 20*time.Millisecond)
	})
}
