package striped_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// waitsAt returns which of some leases holds the share where others wait.
func waitsAt(w *conformance.World, from anyOf, held []*lease.Lease) int {
	w.T.Helper()
	at := slices.IndexFunc(held, func(l *lease.Lease) bool { return len(w.Server.Children(from.Path(from.share(l)))) > 1 })
	require.GreaterOrEqual(w.T, at, 0)
	return at
}

// Calls that have failed do not count as users of a share, and leave nothing there: the
// next call prefers the share that was not free longest ago.
func TestCallsThatFailAreNoUsers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		holder, a := anyStripe(newLocks(t, w.Client("holder"), 2)), anyStripe(newLocks(t, w.Client("a"), 2))
		held := []*lease.Lease{w.Acquire(holder), w.Acquire(holder)}
		for range 3 { // at one share, at the other one, and at the first again
			require.ErrorIs(t, w.Start(a, time.Millisecond).Failed(), lease.ErrTimeout)
			require.Len(t, w.Ephemerals("/"), 2)
		}
		at := w.Start(a, time.Minute)
		second := waitsAt(w, holder, held)
		release(w, held[second])
		release(w, at.Granted())
		at = w.Start(a, time.Minute)
		require.Equal(t, 1-second, waitsAt(w, holder, held))
		release(w, held[1-second], at.Granted())
		leavesNothing(w)
	})
}

// When a call has found a free share, the next one looks at once, although all have
// waited for long.
func TestNextCallLooksAtOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		holder, a := anyStripe(newLocks(t, w.Client("holder"), 4)), anyStripe(newLocks(t, w.Client("a"), 4))
		var held []*lease.Lease
		for range 4 {
			held = append(held, w.Acquire(holder))
		}
		waiting := []*conformance.Attempt{w.Start(a, lease.Forever), w.Start(a, lease.Forever)}
		w.After(time.Minute)
		var slow []*lease.Lease
		for range waiting {
			i := waitsAt(w, holder, held)
			slow, held = append(slow, held[i]), slices.Delete(held, i, i+1)
		}
		release(w, held...)
		select {
		case <-waiting[0].Done():
		case <-waiting[1].Done():
		}
		w.After(100 * time.Millisecond)
		for _, at := range waiting {
			require.False(t, at.Waiting())
			release(w, at.Granted())
		}
		release(w, slow...)
		leavesNothing(w)
	})
}
