package striped_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A call waits at one stripe, where some ahead of it may leave, and later finds another
// one free: the hand-over does not begin with what was of no use.
func TestHandOverOfAStripeThatALookFinds(t *testing.T) {
	for _, leave := range []int{0, 2} {
		handsOverAfterALook(t, leave)
	}
}

func handsOverAfterALook(t *testing.T, leave int) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		holder := anyStripe(newLocks(t, w.Client("holder"), 2))
		a := anyStripe(newLocks(t, w.Client("a"), 2))
		held := []*lease.Lease{w.Acquire(holder), w.Acquire(holder)}
		var before []*conformance.Attempt
		for range leave {
			before = append(before, w.Start(a, lease.Forever))
		}
		at := w.Start(a, lease.Forever)
		for _, other := range before {
			other.Cancel(errors.New("stopped"))
			require.Error(t, other.Failed())
		}
		w.After(time.Minute)
		i := waitsAt(w, holder, held)
		w.Server.On(zktest.AnyOp, path).Client("a").After().Always().Optional().Delay(time.Millisecond)
		release(w, held[1-i])
		release(w, at.Granted(), held[i])
		ends := 0
		for _, e := range w.Observed.Events() {
			if e, ok := e.(framework.AcquireEnd); ok && e.Waited > time.Minute {
				ends++
				require.Positive(t, e.Ahead)
				require.Positive(t, e.HandOver)
				require.Less(t, e.HandOver, time.Second)
			}
		}
		require.Equal(t, 1, ends)
	})
}
