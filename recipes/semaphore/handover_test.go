package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A client of the same session that leaves the queue of Curator's layout lets the next
// one in when its node is deleted, not before. A mutex on that queue stands for it: it
// is the one that would hand its slot over.
func TestDoorOfCuratorsLayoutIsNotHandedOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		s := newSemaphore(t, a, 1)
		require.NoError(t, take(w, s, 1).Release())
		door, err := mutex.New(a, path+"/locks")
		require.NoError(t, err)
		held := w.Acquire(door)
		next := ask(w, s, 1)
		w.After(100 * time.Millisecond)
		refused := w.Server.On(zktest.OpDelete, held.Path()).Client("a").Always().Fail(zktest.ThrottledOp)
		w.Server.ResetCounts()
		freed := make(chan error, 1)
		go func() { freed <- held.Release() }()
		w.After(400 * time.Millisecond)
		require.Zero(t, w.Server.Count(zktest.OpGetChildren2), "it does not look at the permits yet")
		require.True(t, next.Waiting())
		refused.Remove()
		require.NoError(t, <-freed)
		require.NoError(t, next.Granted().Release())
	})
}

// Available, and other sessions, count the permits of a node until it is deleted.
func TestPermitsThatAreOverAreNotAvailable(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		mine := newSemaphore(t, w.Client("a"), 3, semaphore.WithSingleQueue())
		other := newSemaphore(t, w.Client("b"), 3, semaphore.WithSingleQueue())
		held := take(w, mine, 3)
		next, stranger := ask(w, mine, 2), ask(w, other, 1)
		w.After(100 * time.Millisecond)
		w.Server.On(zktest.OpDelete, held.Path()).Client("a").Delay(500 * time.Millisecond)
		freed := make(chan error, 1)
		go func() { freed <- held.Release() }()
		w.Settle()
		got := next.Granted()
		require.True(t, stranger.Waiting())
		free, err := other.Available(t.Context())
		require.NoError(t, err)
		require.Zero(t, free)
		list, err := other.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 3)
		require.True(t, list[0].Holding)
		require.NoError(t, <-freed)
		require.NoError(t, stranger.Granted().Release())
		free, err = other.Available(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, free)
		require.NoError(t, got.Release())
	})
}

// Permits that are handed over never exceed the size, also if that shrinks meanwhile.
func TestHandoverWhileTheSizeShrinks(t *testing.T) {
	for range 10 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			s := newSemaphore(t, w.Client("a"), 2, semaphore.WithSingleQueue())
			adopting := newSemaphore(t, w.Known("a"), 0, semaphore.WithSingleQueue())
			first, second := take(w, s, 1), take(w, s, 1)
			next := ask(w, adopting, 1)
			w.After(100 * time.Millisecond)
			operator := newSemaphore(t, w.Client("b"), 0, semaphore.WithSingleQueue())
			require.NoError(t, operator.Resize(t.Context(), 1))
			w.Settle()
			w.Server.On(zktest.OpDelete, path).Client("a").Delay(500 * time.Millisecond)
			freed := make(chan error, 2)
			go func() { freed <- first.Release() }()
			w.Settle()
			require.True(t, next.Waiting(), "the other one has the only permit")
			go func() { freed <- second.Release() }()
			got := next.Granted()
			require.NoError(t, <-freed)
			require.NoError(t, <-freed)
			require.ErrorIs(t, second.Err(), lease.ErrReleased)
			require.NoError(t, got.Release())
		})
	}
}
