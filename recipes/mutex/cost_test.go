package mutex_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestCostOfFreeMutex(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		warm(w, a)
		m := newMutex(t, a)
		var held *lease.Lease
		acquiring := w.Requests(func() { held = w.Acquire(m) })
		require.Equal(t, map[zktest.Op]int{zktest.OpCreate: 1, zktest.OpGetChildren2: 1}, acquiring)
		releasing := w.Requests(func() { require.NoError(t, held.Release()) })
		require.Equal(t, map[zktest.Op]int{zktest.OpDelete: 1}, releasing)

		held = w.Acquire(m)
		watching := w.Requests(func() { w.After(10 * time.Second) })
		withoutLooks(t, watching, 10*time.Second, 1)
		require.Equal(t, map[zktest.Op]int{zktest.OpGetData: 1, zktest.OpMulti: conformance.Vouched(10 * time.Second)}, watching,
			"a long hold watches its node, once, and is vouched for")
		require.NoError(t, held.Release())
	})
}

// A mutex whose path does not exist costs the container and no round trip: without
// waiting, also the listing that found the path missing.
func TestCostOfFreshMutex(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout  time.Duration
		listings int
	}{"waiting": {lease.Forever, 1}, "at once": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				_, err := a.Create(t.Context(), "/locks", nil, framework.Persistent)
				require.NoError(t, err)
				acquire := func(c *framework.Client) map[zktest.Op]int {
					return w.Requests(func() {
						held, err := newMutex(t, c).Acquire(t.Context(), tc.timeout)
						require.NoError(t, err)
						require.NoError(t, held.Release())
					})
				}
				cycle := map[zktest.Op]int{zktest.OpCreate: 1, zktest.OpGetChildren2: tc.listings, zktest.OpDelete: 1}
				fresh := maps.Clone(cycle)
				fresh[zktest.OpCreateContainer] = 1
				require.Equal(t, fresh, acquire(a))
				require.Equal(t, cycle, acquire(a))
				if tc.timeout == 0 {
					require.Equal(t, cycle, acquire(b), "the listing has shown that the path exists")
				}
			})
		})
	}
}

// withoutLooks subtracts from the count the slow second looks at so many nodes of
// holders, and those at the queue.
func withoutLooks(t *testing.T, counts map[zktest.Op]int, d time.Duration, nodes int) {
	t.Helper()
	require.LessOrEqual(t, counts[zktest.OpExists], nodes*conformance.LooksAgain(d))
	require.LessOrEqual(t, counts[zktest.OpGetChildren2], conformance.LooksAgain(d))
	delete(counts, zktest.OpExists)
	delete(counts, zktest.OpGetChildren2)
}

// One holder, one waiter: the hand-over is one delete and one event.
func TestCostOfHandOverToTheOnlyWaiter(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		w.After(time.Second)
		var attempt *conformance.Attempt
		waiting := w.Requests(func() { attempt = w.Start(newMutex(t, b), lease.Forever) })
		require.Equal(t, map[zktest.Op]int{zktest.OpCreateContainer: 1, zktest.OpCreate: 1, zktest.OpGetChildren2: 1, zktest.OpGetData: 2}, waiting,
			"this client has not used the path yet")
		idle := w.Requests(func() { w.After(time.Minute) })
		withoutLooks(t, idle, time.Minute, 1)
		require.Equal(t, map[zktest.Op]int{zktest.OpMulti: conformance.Vouched(time.Minute)}, idle, "the waiter sends nothing; the holder is vouched for")
		var got *lease.Lease
		handOver := w.Requests(func() {
			require.NoError(t, held.Release())
			got = attempt.Granted()
		})
		require.Equal(t, map[zktest.Op]int{zktest.OpDelete: 1, zktest.OpMulti: 1}, handOver, "no listing; after so long a wait a quorum vouches for the node")
		require.Less(t, attempt.Took, 2*time.Minute)
		require.NoError(t, got.Release())
	})
}

// A waiter that leaves costs one delete, and its successor one listing.
func TestCostOfLeavingTheQueue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempts := queueUp(w, b, 5)
		w.After(time.Second)
		counts := w.Requests(func() {
			attempts[2].Cancel(nil)
			require.Error(t, attempts[2].Failed())
		})
		require.Equal(t, 1, counts[zktest.OpDelete])
		require.LessOrEqual(t, conformance.Total(counts), 3, "%v", counts)
		require.NoError(t, held.Release())
	})
}
