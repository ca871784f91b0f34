package rwlock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A reader hands nothing over. So a writer that has just joined behind one of its
// session, which holds or is the next to hold, does not rest: it is granted by the
// answer to the delete.
func TestNobodyRestsBehindAReader(t *testing.T) {
	for name, behindWriter := range map[string]bool{"that holds": false, "that waits": true} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				l := newLock(t, w.Client("a"))
				var writing *lease.Lease
				if behindWriter {
					writing = w.Acquire(l.Write())
				}
				reader := w.Start(l.Read(), lease.Forever)
				w.Server.SetFaults(func(call zktest.Call) zktest.Action {
					if call.Phase == zktest.PhaseBeforeApply && call.Client == "a" {
						return zktest.Delay(time.Millisecond)
					}
					return zktest.Pass
				})
				writer := w.Start(l.Write(), lease.Forever)
				w.After(5 * time.Millisecond)
				if behindWriter {
					require.NoError(t, writing.Release())
				}
				reading := reader.Granted()
				begin := time.Now()
				require.NoError(t, reading.Release())
				held := writer.Granted()
				require.Equal(t, time.Millisecond, time.Since(begin))
				w.Server.SetFaults(nil)
				require.NoError(t, held.Release())
			})
		})
	}
}

// A writer that waits for a reader of its session finds out meanwhile whether the
// readers of others ahead of that one have left: the reader has not.
func TestWriterLooksPastAReaderOfItsSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		other := w.Acquire(newLock(t, w.Client("b")).Read())
		reading := w.Acquire(l.Read())
		writer := w.Start(l.Write(), lease.Forever)
		w.After(time.Second)
		require.NoError(t, other.Release())
		w.After(time.Second)
		require.Equal(t, counts{zktest.OpDelete: 1}, w.Requests(func() {
			require.NoError(t, reading.Release())
			writer.Granted()
		}))
		require.NoError(t, writer.Lease.Release())
	})
}
