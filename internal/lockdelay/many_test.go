package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A process that had many slots is killed. Those who never wait get all of them in the
// end.
func TestWhoNeverWaitsGetsALockWithManyEnds(t *testing.T) {
	for _, n := range []int{1, 16, 17, 100} {
		inWorld(t, func(t *testing.T, w *conformance.World) {
			many := w.Client("many")
			for range n {
				w.Acquire(shared(t, many).Read())
			}
			kill(w, "many", many)
			next := shared(t, w.Client("next")).Write()
			var held *lease.Lease
			for range 40 {
				if a := w.Start(next, 0); a.Err == nil {
					held = a.Granted()
					break
				} else {
					require.ErrorIs(t, a.Err, lease.ErrLockDelay)
				}
				w.After(delay)
			}
			require.NotNil(t, held, "with %d ended holders the lock is closed for ever: %d records, %d marked", n, len(records(w, path)), len(marked(w, path)))
		})
	}
}

var _ = time.Second
