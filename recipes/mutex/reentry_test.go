package mutex_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

func TestReEntryByContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		m := newMutex(t, a)
		outer := w.Acquire(m)
		deeper, cancel := context.WithTimeout(outer.Context(), time.Hour)
		defer cancel()
		middle, err := m.Acquire(deeper, 0)
		require.NoError(t, err)
		inner, err := newMutex(t, a).Acquire(middle.Context(), time.Second)
		require.NoError(t, err)
		require.Equal(t, outer.Path(), inner.Path())
		require.Len(t, children(w), 1)
		stranger := w.Start(newMutex(t, b), lease.Forever)

		require.NoError(t, outer.Release(), "in any order")
		require.ErrorIs(t, context.Cause(outer.Context()), lease.ErrReleased)
		require.NoError(t, inner.Err())
		require.NoError(t, middle.Err())
		require.True(t, stranger.Waiting())
		require.NoError(t, inner.Release())
		require.True(t, stranger.Waiting())
		require.NoError(t, middle.Release())
		require.NoError(t, stranger.Granted().Release())
		require.ErrorIs(t, middle.Release(), lease.ErrReleased)
	})
}

// A goroutine started under the lease keeps the place while its own lease lasts.
func TestChildGoroutineKeepsTheHold(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		m := newMutex(t, a)
		outer := w.Acquire(m)
		entered, done := make(chan error, 1), make(chan error, 1)
		go func() {
			inner, err := m.Acquire(outer.Context(), 0)
			entered <- err
			if err != nil {
				return
			}
			time.Sleep(time.Second)
			done <- inner.Release()
		}()
		require.NoError(t, <-entered)
		require.NoError(t, outer.Release())
		require.ErrorIs(t, w.Start(m, 900*time.Millisecond).Failed(), lease.ErrTimeout)
		require.NoError(t, <-done)
		require.NoError(t, w.Acquire(m).Release())
	})
}

// With the context of a released lease one is a stranger.
func TestReleasedContextOwnsNothing(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"))
		held := w.Acquire(m)
		kept := context.WithoutCancel(held.Context())
		require.NoError(t, held.Release())
		_, err := m.Acquire(held.Context(), 0)
		require.ErrorIs(t, err, lease.ErrReleased, "its context has ended, too")
		other := w.Acquire(m)
		_, err = m.Acquire(kept, 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		require.NoError(t, other.Release())
	})
}

// It re-enters the hold that its context owns, and not one of its namesakes.
func TestReEntryIsByPathAndClient(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		_, err := newMutex(t, b).Acquire(held.Context(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout, "another client is another owner")
		other, err := mutex.New(a, "/locks/other")
		require.NoError(t, err)
		also, err := other.Acquire(held.Context(), 0)
		require.NoError(t, err)
		again, err := newMutex(t, a).Acquire(also.Context(), 0)
		require.NoError(t, err, "what was entered first is still owned")
		require.Equal(t, held.Token(), again.Token())

		view, err := a.Namespace("locks")
		require.NoError(t, err)
		same, err := mutex.New(view, "/orders")
		require.NoError(t, err)
		through, err := same.Acquire(held.Context(), 0)
		require.NoError(t, err, "the same node by another view is the same mutex")
		require.Equal(t, held.Token(), through.Token())
		for _, l := range []*lease.Lease{through, again, also, held} {
			require.NoError(t, l.Release())
		}
	})
}

func TestWithoutOwnerWaitsLikeAStranger(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"))
		held := w.Acquire(m)
		ctx := lease.WithoutOwner(held.Context())
		_, err := m.Acquire(ctx, 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		attempt := w.StartWith(lease.WithoutOwner(t.Context()), m, lease.Forever)
		require.True(t, attempt.Waiting())
		require.NoError(t, held.Release())
		got := attempt.Granted()
		inner, err := m.Acquire(got.Context(), 0)
		require.NoError(t, err, "what it got after that it owns")
		require.NoError(t, inner.Release())
		require.NoError(t, got.Release())
	})
}

func TestMaxHold(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		m := newMutex(t, a, mutex.WithMaxHold(5*time.Second))
		held := w.Acquire(m)
		inner, err := m.Acquire(held.Context(), 0)
		require.NoError(t, err)
		attempt := w.Start(newMutex(t, b), lease.Forever)
		w.After(5*time.Second - time.Millisecond)
		require.NoError(t, held.Err())
		require.LessOrEqual(t, time.Until(held.TrustedUntil()), time.Millisecond)
		w.After(time.Millisecond)
		require.ErrorIs(t, held.Err(), lease.ErrMaxHold)
		require.ErrorIs(t, context.Cause(inner.Context()), lease.ErrMaxHold)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		w.After(conformance.SessionTimeout/6 - 10*time.Millisecond)
		require.True(t, attempt.Waiting(), "time to wind down")
		w.After(20 * time.Millisecond)
		require.False(t, attempt.Waiting())
		require.NoError(t, attempt.Granted().Release())
		require.ErrorIs(t, inner.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)

		held = w.Acquire(m)
		attempt = w.Start(newMutex(t, b), lease.Forever)
		w.After(5 * time.Second)
		require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
		w.Settle()
		require.False(t, attempt.Waiting(), "a release needs no winding down")
	})
}

// A fork whose patience ends at the moment at which the hold does is told of the loss:
// what it belongs to is over.
func TestForkIsToldOfALossFirst(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"), mutex.WithMaxHold(time.Second))
		held := w.Acquire(m)
		ctx := lease.Fork(context.WithoutCancel(held.Context()))
		inside := w.StartWith(ctx, m, 0).Granted()
		at := w.StartWith(ctx, m, time.Second)
		require.ErrorIs(t, at.Failed(), lease.ErrMaxHold)
		require.ErrorIs(t, at.Err, lease.ErrLost)
		require.NotErrorIs(t, at.Err, lease.ErrTimeout)
		require.ErrorIs(t, inside.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}
