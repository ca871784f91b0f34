package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestDo(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := acquirer(t, w.Client("a"))
		var held *lease.Lease
		err := lease.Do(t.Context(), a, time.Second, func(ctx context.Context, l *lease.Lease) error {
			held = l
			require.NoError(t, l.Err())
			require.NoError(t, ctx.Err())
			inner, err := a.Acquire(ctx, 0)
			require.NoError(t, err, "its context re-enters")
			return inner.Release()
		})
		require.NoError(t, err)
		require.ErrorIs(t, held.Err(), lease.ErrReleased)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
}

func TestDoReturnsTheErrorOfTheWork(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := acquirer(t, w.Client("a"))
		failure := errors.New("out of stock")
		err := lease.Do(t.Context(), a, time.Second, func(context.Context, *lease.Lease) error { return failure })
		require.ErrorIs(t, err, failure)
		require.NotErrorIs(t, err, lease.ErrLost)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
}

func TestDoReleasesWhenTheWorkPanics(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := acquirer(t, w.Client("a"))
		require.PanicsWithValue(t, "broken", func() {
			_ = lease.Do(t.Context(), a, time.Second, func(context.Context, *lease.Lease) error { panic("broken") })
		})
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
}

func TestDoReportsALoss(t *testing.T) {
	failure := errors.New("stopped half way")
	for name, result := range map[string]error{"the work succeeded": nil, "the work failed": failure} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c := w.Client("a")
				err := lease.Do(t.Context(), acquirer(t, c), time.Second, func(ctx context.Context, _ *lease.Lease) error {
					w.Expire(c)
					<-ctx.Done()
					require.ErrorIs(t, context.Cause(ctx), lease.ErrLost)
					return result
				})
				require.ErrorIs(t, err, lease.ErrLost)
				if result != nil {
					require.ErrorIs(t, err, failure)
				}
			})
		})
	}
}

// The loss that the work returns itself is not repeated.
func TestDoReportsALossOnce(t *testing.T) {
	for name, result := range map[string]func(context.Context, *lease.Lease) error{
		"the lease's error":       func(_ context.Context, held *lease.Lease) error { return held.Err() },
		"the cause":               func(ctx context.Context, _ *lease.Lease) error { return context.Cause(ctx) },
		"the lease's error, told": func(_ context.Context, held *lease.Lease) error { return fmt.Errorf("stop: %w", held.Err()) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c := w.Client("a")
				err := lease.Do(t.Context(), acquirer(t, c), time.Second, func(ctx context.Context, held *lease.Lease) error {
					w.Expire(c)
					<-ctx.Done()
					return result(ctx, held)
				})
				require.ErrorIs(t, err, lease.ErrLost)
				require.ErrorIs(t, err, framework.ErrSessionExpired)
				require.Equal(t, 1, strings.Count(err.Error(), lease.ErrLost.Error()), "%v", err)
			})
		})
	}
}

// Do returns the loss although the work never looked.
func TestDoReportsALossThatTheWorkDidNotNotice(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		err := lease.Do(t.Context(), acquirer(t, a), time.Second, func(_ context.Context, l *lease.Lease) error {
			w.Remove(b, l.Path())
			return nil
		})
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, lease.ErrDeleted)
	})
}

func TestDoThatAcquiresNothing(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(acquirer(t, w.Client("a")))
		err := lease.Do(t.Context(), acquirer(t, w.Client("b")), time.Second, func(context.Context, *lease.Lease) error {
			t.Error("it ran without a lease")
			return nil
		})
		require.ErrorIs(t, err, lease.ErrTimeout)
		require.NoError(t, held.Release())
	})
}

func TestDoWhoseWorkReleases(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		err := lease.Do(t.Context(), acquirer(t, w.Client("a")), time.Second, func(_ context.Context, l *lease.Lease) error {
			return l.Release()
		})
		require.NoError(t, err)
	})
}

// The end of the context given to Do is not a loss: the lease is held until the work
// has ended.
func TestDoIsCancelled(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("shutting down")
		err := lease.Do(ctx, acquirer(t, w.Client("a")), time.Second, func(ctx context.Context, l *lease.Lease) error {
			cancel(reason)
			<-ctx.Done()
			time.Sleep(time.Second)
			require.NoError(t, l.Err())
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, reason)
		require.NotErrorIs(t, err, lease.ErrLost)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"), "released although its context had ended")
	})
}
