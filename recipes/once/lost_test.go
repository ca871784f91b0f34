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

// evictOn delays a request, and meanwhile deletes the znode of the holder of run "a",
// which does not watch it yet.
func evictOn(w *conformance.World, operator *framework.Client, late *zktest.Rule) (evicted chan struct{}) {
	late.Delay(time.Millisecond)
	evicted = make(chan struct{})
	go func() {
		defer close(evicted)
		<-late.Fired()
		for _, child := range w.Server.Children(path + "/a.key") {
			w.Remove(operator, path+"/a.key/"+child)
		}
	}()
	return evicted
}

// The znode of a holder is deleted while its record is on the way: nothing is recorded.
func TestLeaseIsLostBeforeTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r, operator := withEffects(t, w.Client("a")).Key("a"), w.Client("operator")
		evicted := evictOn(w, operator, w.Server.On(zktest.OpMulti, path))
		held := w.Acquire(r)
		err := r.Record(t.Context(), held, framework.CreateOp(effects+"/", nil, framework.PersistentSequential))
		<-evicted
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		require.ErrorIs(t, err, lease.ErrLost)
		require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Empty(t, w.Server.Children(done))
		require.Empty(t, w.Server.Children(effects))
	})
}

// A lease that is lost once the run is recorded was needed for nothing more.
func TestLeaseIsLostAfterTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, operator := newJob(t, w.Client("a")), w.Client("operator")
		evicted := evictOn(w, operator, w.Server.On(zktest.OpDelete, path).Client("a"))
		require.NoError(t, j.Do(t.Context(), "a", nothing))
		<-evicted
	})
}

// Without a connection Record waits until the lease is over.
func TestRecordWithoutAConnection(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, began := newJob(t, w.Client("a")), time.Now()
		err := j.Do(t.Context(), "a", func(context.Context, *lease.Lease) error {
			w.Server.Partition("a", true)
			w.After(time.Second)
			time.AfterFunc(3*conformance.SessionTimeout, func() { w.Server.Partition("a", false) })
			return nil
		})
		require.ErrorIs(t, err, lease.ErrLost)
		require.Less(t, time.Since(began), 2*conformance.SessionTimeout)
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
