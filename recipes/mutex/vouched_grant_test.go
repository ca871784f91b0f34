package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A place that was waited for so long that a quorum has to vouch for it first: the acquire
// is bounded by its timeout all the same, and leaves no node and nothing that relies on one.
func TestAcquireWhosePlaceIsNotVouchedForIsBounded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a")))
		b := w.Client("b")
		attempt := w.Start(newMutex(t, b), 20*time.Second)
		w.After(19 * time.Second)
		rule := w.Server.On(zktest.OpMulti, "").Client("b").Always()
		rule.DropReply()
		require.NoError(t, held.Release())
		require.ErrorIs(t, attempt.Failed(), lease.ErrTimeout)
		require.Less(t, attempt.Took, 21*time.Second)
		rule.Remove()
		w.After(10 * time.Second)
		require.Empty(t, w.Ephemerals("/"))
		w.Server.ResetCounts()
		w.After(time.Minute)
		require.Zero(t, w.Server.Count(zktest.OpMulti), "nothing relies on the session")
	})
}

// Somebody deletes the node while it is being vouched for: the acquire joins again.
func TestPlaceThatIsDeletedBeforeItIsVouchedForIsTakenAnew(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a")))
		b, c := w.Client("b"), w.Client("c")
		attempt := w.Start(newMutex(t, b), lease.Forever)
		w.After(time.Minute)
		rule := w.Server.On(zktest.OpMulti, "").Client("b")
		rule.Delay(time.Second)
		require.NoError(t, held.Release())
		<-rule.Fired()
		for _, path := range w.Ephemerals("/") {
			require.NoError(t, c.Delete(t.Context(), path, framework.AnyVersion))
		}
		l := attempt.Granted()
		require.NoError(t, l.Err())
		require.NoError(t, l.Release())
	})
}
