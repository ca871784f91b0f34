package once_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Those that wait, and those that must not, are told as soon as a run is recorded,
// although its lock is held still.
func TestRecordEndsTheWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a")).Key("a"), newJob(t, w.Client("b")).Key("a")
		held := w.Acquire(a)
		waiting := w.Start(b, lease.Forever)
		require.ErrorIs(t, w.Start(b, 0).Failed(), lease.ErrTimeout)
		require.True(t, waiting.Waiting())
		require.NoError(t, a.Record(t.Context(), held))
		w.Settle()
		require.False(t, waiting.Waiting())
		require.ErrorIs(t, waiting.Err, once.ErrRecorded)
		require.ErrorIs(t, w.Start(b, 0).Failed(), once.ErrRecorded)
		require.NoError(t, held.Err())
		require.NoError(t, held.Release())
	})
}

// The event of a record is late, and so comes with the admission of the next one.
func TestRecordIsSeenOnAdmission(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a")), newJob(t, w.Client("b"))
		errs := make(chan error, 1)
		require.NoError(t, a.Do(t.Context(), "a", func(context.Context, *lease.Lease) error {
			go func() {
				errs <- b.Do(t.Context(), "a", func(context.Context, *lease.Lease) error { return errors.New("begun") })
			}()
			w.Settle()
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Client == "b" && c.Phase == zktest.PhaseEvent && c.Path == done+"/a.key" {
					return zktest.DropReply
				}
				return zktest.Pass
			})
			return nil
		}))
		require.NoError(t, <-errs)
	})
}

// A tick that is forgotten is not begun, not even by one that has waited.
func TestForgottenTickIsNotBegun(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
		old := time.Now().Add(-time.Second)
		waiting := b.Tick(old)
		held := w.Acquire(a.Tick(old))
		attempt := w.Start(waiting, lease.Forever)
		w.After(2 * time.Minute)
		require.NoError(t, a.Do(t.Context(), "another", nothing))
		w.Settle()
		require.True(t, attempt.Waiting())
		require.NoError(t, held.Release())
		require.ErrorIs(t, attempt.Failed(), once.ErrForgotten)
		require.ErrorIs(t, w.Start(waiting, 0).Failed(), once.ErrForgotten)
		require.NoError(t, newJob(t, w.Named("b")).Tick(time.Now()).Do(t.Context(), nothing))
	})
}

// What a caller has written before its context ends is recorded.
func TestContextEndsBeforeTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, j.Do(ctx, "a", func(context.Context, *lease.Lease) error {
			cancel()
			return nil
		}))
		require.Len(t, w.Server.Children(done), 1)
	})
}

// A mutex at the path of a run is not that of the run, which knows of the record.
func TestMutexAtTheQueueOfARun(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		r := newJob(t, c).Key("a")
		m, err := mutex.New(c, path+"/a.key")
		require.NoError(t, err)
		held := w.Acquire(m)
		require.ErrorIs(t, w.StartWith(held.Context(), r, 0).Failed(), lease.ErrTimeout)
		require.NoError(t, held.Release())
		held = w.Acquire(r)
		again := w.StartWith(held.Context(), r, 0)
		require.NoError(t, again.Err)
		require.NoError(t, again.Lease.Release())
		require.NoError(t, held.Release())
	})
}
