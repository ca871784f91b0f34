package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A listing for the next head goes behind the transaction of each. The size is read
// once for all that had joined by then.
func TestCostOfPermitsOneAfterAnother(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := take(w, newSemaphore(t, w.Client("b"), 9), 9)
		s := newSemaphore(t, w.Client("a"), 9)
		var all []*conformance.Attempt
		for range 7 {
			all = append(all, ask(w, s, 1))
		}
		w.After(time.Second)
		cost := w.Requests(func() {
			require.NoError(t, held.Release())
			for _, at := range all {
				at.Granted()
			}
		})
		require.Equal(t, counts{
			zktest.OpMulti:        1 + 7,         // the release, and the permits
			zktest.OpGetChildren2: 1 + 1 + 7 - 2, // of the first, of the second, of the others by the heads before them
			zktest.OpGetData:      1,             // of the second, which had not joined when the first read the size
		}, cost)
		for _, at := range all {
			release(w, at.Lease)
		}
	})
}

// While there is no capacity, the head watches the size and the permits, and when the
// latter have changed it reads only these again.
func TestCostOfPermitsWithoutCapacity(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		b := newSemaphore(t, w.Client("b"), 2)
		held := []*lease.Lease{w.Acquire(b), w.Acquire(b)}
		s := newSemaphore(t, w.Client("a"), 2)
		all := []*conformance.Attempt{ask(w, s, 1), ask(w, s, 1), ask(w, s, 1)}
		w.After(time.Second)
		for i, at := range all {
			cost := w.Requests(func() {
				require.NoError(t, held[i].Release())
				held = append(held, at.Granted())
			})
			require.Equal(t, 1, cost[zktest.OpDelete])
			require.Equal(t, 1, cost[zktest.OpMulti])
			switch {
			case i < 2:
				require.Equal(t, 2, cost[zktest.OpGetChildren2], "of the head, and of the next one")
				require.Equal(t, 1, cost[zktest.OpGetData], "the size, by the next one")
			default:
				require.Equal(t, 1, cost[zktest.OpGetChildren2])
				require.Zero(t, cost[zktest.OpGetData])
			}
		}
		release(w, held[len(all):]...)
	})
}

// A head passes no look on to the next one of its session if that of another client is
// between them, which makes permits meanwhile.
func TestPermitOfAnotherClientBetween(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 4), newSemaphore(t, w.Client("b"), 4)
		held := take(w, b, 4)
		ones := []*conformance.Attempt{ask(w, a, 1), ask(w, a, 1), ask(w, b, 1)}
		two := ask(w, a, 2)
		w.After(time.Second)
		release(w, held)
		w.After(time.Second)
		require.True(t, two.Waiting(), "three of four are held")
		require.Len(t, holding(w), 3)
		for _, at := range ones {
			release(w, at.Granted())
		}
		release(w, two.Granted())
	})
}

// The transaction of the head is refused and sent again: the listing behind the first
// attempt does not show its permit.
func TestListingBeforeThePermitOfTheHead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 4), newSemaphore(t, w.Client("b"), 4)
		held := []*lease.Lease{take(w, b, 3), take(w, b, 1)}
		ones := []*conformance.Attempt{ask(w, a, 1), ask(w, a, 1)}
		two := ask(w, a, 2)
		w.After(time.Second)
		w.Server.On(zktest.OpMulti, path).Client("a").Nth(2).Before().Fail(zktest.ThrottledOp)
		release(w, held[0])
		w.After(time.Second)
		require.True(t, two.Waiting(), "three of four are held")
		require.Len(t, holding(w), 3)
		release(w, held[1], ones[0].Granted(), ones[1].Granted())
		release(w, two.Granted())
	})
}

// The size changes when the head has passed its look on.
func TestResizeBehindTheHead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 5), newSemaphore(t, w.Client("b"), 5)
		held := take(w, b, 5)
		all := []*conformance.Attempt{ask(w, a, 1), ask(w, a, 1), ask(w, a, 1), ask(w, a, 1)}
		w.After(time.Second)
		late := w.Server.On(zktest.OpMulti, path).Client("a").Nth(3).Before().Delay(time.Second)
		require.NoError(t, held.Release())
		<-late.Fired()
		require.NoError(t, b.Resize(t.Context(), 2))
		w.After(time.Minute)
		require.True(t, all[2].Waiting())
		require.Len(t, holding(w), 2)
		release(w, all[0].Granted(), all[1].Granted())
		release(w, all[2].Granted(), all[3].Granted())
	})
}
