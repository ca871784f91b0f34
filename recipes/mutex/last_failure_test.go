package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// That an answer was due when the time was up is no failure that was met; that a server
// refused something before is one.
func TestTimeoutTellsWhatFailedAndNothingElse(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("b")))
		m := newMutex(t, w.Client("a"))
		timeout := func() *lease.TimeoutError {
			var err *lease.TimeoutError
			require.ErrorAs(t, w.Start(m, 300*time.Millisecond).Failed(), &err)
			return err
		}
		w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(time.Second)
		require.NoError(t, timeout().Err)
		w.After(2 * time.Second)
		rule := w.Server.On(zktest.OpGetChildren2, path).Client("a").Always().Fail(zktest.ThrottledOp)
		require.ErrorContains(t, timeout().Err, "refused by an overloaded server")
		rule.Remove()
		require.NoError(t, held.Release())
	})
}
