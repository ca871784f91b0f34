package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The timeout of a Resize is that for all stripes together.
func TestTimeoutBoundsTheWaitForAllStripes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l, b := newLocks(t, w.Client("a"), 2), newLocks(t, w.Client("b"), 2)
		first, last := w.Acquire(b.For("one")), w.Acquire(b.For(moved))
		require.NotEqual(t, b.Index("one"), b.Index(moved))
		began, done := time.Now(), make(chan error)
		go func() {
			_, err := l.Resize(t.Context(), 3, time.Second)
			done <- err
		}()
		w.After(900 * time.Millisecond)
		release(w, first)
		require.ErrorIs(t, <-done, lease.ErrTimeout)
		require.LessOrEqual(t, time.Since(began), 1100*time.Millisecond)
		release(w, last)
		leavesNothing(w)
	})
}

// Data that was stored by hand while the number was about to change is not overwritten.
func TestResizeOverwritesNothingElse(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l, operator := newLocks(t, w.Client("a"), 2), w.Client("operator")
		release(w, w.Acquire(l.For(moved)))
		slow := w.Server.On(zktest.OpMulti, path).Client("a").Delay(100 * time.Millisecond)
		done := make(chan error)
		go func() {
			_, err := l.Resize(t.Context(), 3, time.Minute)
			done <- err
		}()
		<-slow.Fired()
		_, err := operator.Set(t.Context(), path, []byte("by hand"), framework.AnyVersion)
		require.NoError(t, err)
		require.ErrorIs(t, <-done, lease.ErrForeignData)
		require.Equal(t, "by hand", stored(w))
		leavesNothing(w)
	})
}
