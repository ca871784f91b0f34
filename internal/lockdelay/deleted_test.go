package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The znode of a contender that waits for the delay is deleted by an operator. Another
// one, which comes so late that it need not wait, is granted the lock, and lives. When
// it ends uncleanly, long after that, whoever is next waits for the delay after that
// end: the contender, and one that has never waited.
func TestAContenderWhoseNodeWasDeletedDoesNotTakeTheHolderForEnded(t *testing.T) {
	for name, stays := range map[string]bool{"the same one is next": true, "another one is next": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				first, a, b := w.Client("first"), w.Client("a"), w.Client("b")
				w.Acquire(delayed(t, first))
				kill(w, "first", first)
				require.ErrorIs(t, w.Start(delayed(t, a), 0).Failed(), lease.ErrLockDelay)
				w.After(2*delay - 2*time.Second)
				evicted := w.Start(delayed(t, a), time.Hour)
				require.True(t, evicted.Waiting())
				w.Remove(w.Client("operator"), path+"/"+contenders(w, path)[0])
				w.After(2 * time.Second)
				holds := w.Acquire(delayed(t, b))
				w.After(3 * delay)
				require.NoError(t, holds.Err())
				require.True(t, evicted.Waiting())
				if !stays {
					evicted.Cancel(nil)
					_ = evicted.Failed()
				}
				began := time.Now()
				kill(w, "b", b)
				if stays {
					evicted.Granted()
				} else {
					w.Start(delayed(t, w.Client("next")), time.Hour).Granted()
				}
				require.GreaterOrEqual(t, time.Since(began), delay, "granted sooner than the delay after an unclean end")
			})
		})
	}
}
