package once_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The znode of a holder is deleted while its record is on the way: nothing is recorded.
func TestLeaseIsLostBeforeTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := withEffects(t, w.Client("a"))
		operator := w.Client("operator")
		late := w.Server.On(zktest.OpMulti, path)
		late.Delay(time.Millisecond)
		evicted := make(chan struct{})
		go func() {
			defer close(evicted)
			<-late.Fired()
			for _, child := range w.Server.Children(path + "/a.key") {
				w.Remove(operator, path+"/a.key/"+child)
			}
		}()
		err := counted(t.Context(), j.Key("a"))
		<-evicted
		require.ErrorIs(t, err, lease.ErrLost)
		require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Empty(t, w.Server.Children(done))
		require.Empty(t, w.Server.Children(effects))
	})
}

// A lease that is lost once the run is recorded was needed for nothing more.
func TestLeaseIsLostAfterTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		j := newJob(t, c)
		w.Server.On(zktest.OpDelete, path).Expire()
		require.NoError(t, j.Do(t.Context(), "a", nothing))
	})
}

// Without a connection Record waits until the lease is over.
func TestRecordWithoutAConnection(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		err := newJob(t, c).Do(t.Context(), "a", func(context.Context, *lease.Lease) error {
			w.Server.Partition("a", true)
			w.After(time.Second)
			time.AfterFunc(3*conformance.SessionTimeout, func() { w.Server.Partition("a", false) })
			return nil
		})
		require.ErrorIs(t, err, lease.ErrLost)
		require.Empty(t, w.Server.Children(done))
		w.After(4 * conformance.SessionTimeout)
	})
}

// The record is about the lease that it is given: not about one that is over, or on
// another run.
func TestRecordOfAnotherLease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		held := w.Acquire(j.Key("a"))
		require.ErrorIs(t, j.Key("b").Record(t.Context(), held), framework.ErrInvalidArgument)
		require.NoError(t, held.Release())
		w.Server.ResetCounts()
		require.ErrorIs(t, j.Key("a").Record(t.Context(), held), lease.ErrReleased)
		require.Zero(t, w.Server.Count(zktest.OpGetData))
		require.Empty(t, w.Server.Children(done))
	})
}
