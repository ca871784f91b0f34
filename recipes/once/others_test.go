package once_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A record that an operator has made, also one without data, has the run never done.
func TestRecordByHand(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		j := newJob(t, c)
		require.NoError(t, j.Do(t.Context(), "a", nothing))
		_, err := c.Create(t.Context(), done+"/b.key", nil, framework.Persistent)
		require.NoError(t, err)
		require.NoError(t, j.Do(t.Context(), "b", func(context.Context, *lease.Lease) error { return errors.New("begun") }))
		record, err := j.Key("b").Recorded(t.Context())
		require.NoError(t, err)
		require.NotNil(t, record)
		record, err = j.Key("c").Recorded(t.Context())
		require.NoError(t, err)
		require.Nil(t, record)
	})
}

// While a run is done an operator makes a record of it.
func TestAnotherRecordIsMadeMeanwhile(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		j := newJob(t, c)
		require.NoError(t, j.Do(t.Context(), "a", nothing))
		err := j.Do(t.Context(), "b", func(context.Context, *lease.Lease) error {
			_, err := c.Create(t.Context(), done+"/b.key", []byte(`{"token":1,"who":"an operator"}`), framework.Persistent)
			return err
		})
		require.ErrorIs(t, err, once.ErrRecorded)
		require.ErrorContains(t, err, "an operator")
	})
}

// The record that kept a run from being recorded is deleted before it is read.
func TestAnotherRecordIsDeleted(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, operator := w.Client("a"), w.Client("operator")
		j := newJob(t, c)
		require.NoError(t, j.Do(t.Context(), "a", nothing))
		deleted := make(chan struct{})
		require.NoError(t, j.Do(t.Context(), "b", func(ctx context.Context, _ *lease.Lease) error {
			_, err := operator.Create(ctx, done+"/b.key", nil, framework.Persistent)
			read := w.Server.On(zktest.OpGetData, done+"/b.key")
			read.Delay(time.Millisecond)
			go func() {
				defer close(deleted)
				<-read.Fired()
				w.Remove(operator, done+"/b.key")
			}()
			return err
		}))
		<-deleted
		record, err := j.Key("b").Recorded(t.Context())
		require.NoError(t, err)
		require.Equal(t, "b", record.Key)
		require.Less(t, time.Since(record.Since), time.Second)
	})
}

// A run whose work fails with ErrRecorded, of another job, is not recorded.
func TestWorkThatFindsAnotherRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		err := j.Do(t.Context(), "a", func(context.Context, *lease.Lease) error { return once.ErrRecorded })
		require.ErrorIs(t, err, once.ErrRecorded)
		require.Empty(t, w.Server.Children(done))
	})
}

// The parent of the records is not the job's.
func TestForeignParentOfRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		require.NoError(t, c.CreateParents(t.Context(), done))
		_, err := c.Create(t.Context(), done, []byte("something else"), framework.Persistent)
		require.NoError(t, err)
		err = newJob(t, c).Do(t.Context(), "a", func(context.Context, *lease.Lease) error { return errors.New("begun") })
		require.ErrorIs(t, err, lease.ErrForeignData)
		require.ErrorContains(t, err, "something else")
	})
}

// The parent of the records is written by others while a run is done.
func TestParentOfRecordsIsWritten(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		reads := boundReads(w, "a")
		err := newJob(t, c).Do(t.Context(), "a", func(ctx context.Context, _ *lease.Lease) error {
			_, err := c.Set(ctx, done, []byte("something else"), framework.AnyVersion)
			return err
		})
		require.ErrorIs(t, err, lease.ErrForeignData)
		require.Less(t, *reads, 10)
		require.Empty(t, w.Server.Children(done))
	})
}

// An operation that fails keeps the run from being recorded, and is named.
func TestOperationThatFails(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newJob(t, w.Client("a")).Key("a")
		err := r.Do(t.Context(), func(ctx context.Context, held *lease.Lease) error {
			return r.Record(ctx, held, framework.CheckOp("/", framework.AnyVersion), framework.CheckOp("/none", framework.AnyVersion))
		})
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.ErrorContains(t, err, "also[1]")
		require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Empty(t, w.Server.Children(done))
	})
}
