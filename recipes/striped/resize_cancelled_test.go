package striped_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	// moved is a key that has the last of two stripes, and the first of three.
	moved = "cart"
)

// What a Resize that is cancelled has sent may be carried out later. Until that is
// known it keeps the stripes, also from other callers of its own session: these would
// be granted them by the number before.
func TestResizeThatIsCancelledKeepsTheStripes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		two := newLocks(t, a, 2)
		require.NoError(t, w.Acquire(two.For(moved)).Release())
		held := w.Acquire(newLocks(t, b, 2).For(moved))
		ctx, cancel := context.WithCancelCause(t.Context())
		resized := make(chan error, 1)
		go func() {
			_, err := two.Resize(ctx, 3, time.Minute)
			resized <- err
		}()
		w.After(time.Second)
		waits := w.Start(two.For(moved), time.Minute)
		w.After(time.Second)
		w.Server.On(zktest.OpMulti, path).Client("a").Delay(time.Second)
		release(w, held)
		w.Settle()
		cancel(errors.New("cancelled"))
		w.Settle()
		require.True(t, waits.Waiting())
		w.After(2 * time.Second)
		require.ErrorIs(t, <-resized, framework.ErrUnknownOutcome)
		require.ErrorIs(t, waits.Failed(), striped.ErrSizeMismatch)
		release(w, w.Acquire(newLocks(t, b, 3).For(moved)))
	})
}
