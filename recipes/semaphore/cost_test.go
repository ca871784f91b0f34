package semaphore_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

type counts = map[zktest.Op]int

// A permit that is acquired and returned costs three writes; with Curator it is four.
func TestCostOfAFreePermit(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := newSemaphore(t, w.Client("a"), 3)
		warm(w, s)
		var held *lease.Lease
		require.Equal(t, counts{zktest.OpCreate: 1, zktest.OpGetChildren2: 2, zktest.OpGetData: 1, zktest.OpMulti: 1},
			w.Requests(func() { held = w.Acquire(s) }))
		require.Zero(t, w.Server.Watches(), "no one waits")
		require.Equal(t, counts{zktest.OpDelete: 1}, w.Requests(func() { release(w, held) }))

		require.Equal(t, counts{zktest.OpCreate: 1, zktest.OpGetChildren2: 2, zktest.OpGetData: 1, zktest.OpMulti: 1},
			w.Requests(func() { held = take(w, s, 3) }), "many cost no more than one")
		long := w.Requests(func() { w.After(10 * time.Second) })
		require.LessOrEqual(t, long[zktest.OpExists], 3*conformance.LooksAgain(10*time.Second))
		delete(long, zktest.OpExists)
		require.Equal(t, counts{zktest.OpGetData: 3, zktest.OpMulti: conformance.Vouched(10 * time.Second)}, long,
			"a long hold watches its nodes, once, and is vouched for")
		require.Equal(t, counts{zktest.OpMulti: 1}, w.Requests(func() { release(w, held) }))
	})
}

func TestCostOfAFreePermitOfASingleQueue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := newSemaphore(t, w.Client("a"), 3, semaphore.WithSingleQueue())
		warm(w, s)
		for n := 1; n <= 3; n++ {
			var held *lease.Lease
			require.Equal(t, counts{zktest.OpCreate: 1, zktest.OpGetChildren2: 1, zktest.OpGetData: 1},
				w.Requests(func() { held = take(w, s, n) }))
			require.Zero(t, w.Server.Watches(), "no one waits")
			require.Equal(t, counts{zktest.OpDelete: 1}, w.Requests(func() { release(w, held) }))
		}
	})
}

// waitQuietly asserts that all wait without a request, but for so many slow second
// looks at a time, and that holders are vouched for.
func waitQuietly(t *testing.T, w *conformance.World, looks counts) {
	t.Helper()
	idle := w.Requests(func() { w.After(time.Minute) })
	for op, n := range looks {
		require.LessOrEqual(t, idle[op], n*conformance.LooksAgain(time.Minute), "%v", op)
		delete(idle, op)
	}
	require.Equal(t, counts{zktest.OpMulti: conformance.Vouched(time.Minute)}, idle)
}

// One permit is returned, one waiter is woken, and it costs the same however many
// others wait.
func TestCostOfHandOverDoesNotGrowWithWaiters(t *testing.T) {
	for _, waiters := range []int{2, 10, 50} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := newSemaphore(t, w.Client("a"), 2), newSemaphore(t, w.Client("b"), 2)
				held := []*lease.Lease{w.Acquire(a), w.Acquire(a)}
				var attempts []*conformance.Attempt
				for range waiters {
					attempts = append(attempts, ask(w, b, 1))
				}
				w.After(time.Second)
				waitQuietly(t, w, counts{zktest.OpExists: 3, zktest.OpGetData: 1, zktest.OpGetChildren2: 2})
				for i, at := range attempts {
					var cost counts
					events := w.Events("b", func() {
						cost = w.Requests(func() {
							require.NoError(t, held[i].Release())
							held = append(held, at.Granted())
						})
					})
					require.Equal(t, 2, cost[zktest.OpDelete]+cost[zktest.OpMulti], "the return and the permit")
					require.LessOrEqual(t, conformance.Total(cost), 12, "%v", cost)
					require.LessOrEqual(t, events, 4, "of the head, of its own requests, and of the next in the queue")
				}
				release(w, held[waiters:]...)
			})
		})
	}
}

// With a single queue, a return wakes at most as many as there are permits.
func TestCostOfHandOverInASingleQueue(t *testing.T) {
	const size = 3
	for _, waiters := range []int{4, 50} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				opt := semaphore.WithSingleQueue()
				a, b := newSemaphore(t, w.Client("a"), size, opt), newSemaphore(t, w.Client("b"), size, opt)
				held := []*lease.Lease{w.Acquire(a), w.Acquire(a), w.Acquire(a)}
				var attempts []*conformance.Attempt
				for range waiters {
					attempts = append(attempts, ask(w, b, 1))
				}
				w.After(time.Second)
				waitQuietly(t, w, counts{zktest.OpExists: 3, zktest.OpGetData: waiters, zktest.OpGetChildren2: 1})
				for i, at := range attempts {
					cost := w.Requests(func() {
						require.NoError(t, held[i].Release())
						held = append(held, at.Granted())
					})
					require.Equal(t, 1, cost[zktest.OpDelete], "the return is the only write")
					require.Zero(t, cost[zktest.OpCreate])
					vouched := 0
					if i == 0 { // the others' session is vouched for already
						vouched = 1
					}
					require.Equal(t, vouched, cost[zktest.OpMulti])
					require.LessOrEqual(t, conformance.Total(cost), 1+size*(size+2), "%v", cost)
				}
				release(w, held[waiters:]...)
			})
		})
	}
}

// A newcomer at the head of the queue that finds no capacity lists the permits again
// with a watch, and then only reads its own position.
func TestCostOfWaitingForCapacity(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 1), newSemaphore(t, w.Client("b"), 1)
		warm(w, b)
		held := w.Acquire(a)
		var at *conformance.Attempt
		require.Equal(t, counts{zktest.OpCreate: 1, zktest.OpGetChildren2: 3, zktest.OpGetData: 3},
			w.Requests(func() { at = ask(w, b, 1) }))
		release(w, held)
		release(w, at.Granted())
	})
}

// The head of the queue reads the size again by and by, and keeps one watch on it.
func TestWatchesOfALongWaitForCapacity(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newSemaphore(t, w.Client("a"), 1))
		at := ask(w, newSemaphore(t, w.Client("b"), 1), 1)
		objects := func() (n uint64) {
			var all runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&all)
			return all.HeapObjects
		}
		w.After(time.Minute)
		before := objects()
		w.After(2 * time.Hour)
		require.Less(t, objects(), before+uint64(4*conformance.LooksAgain(2*time.Hour)), "more with each look")
		release(w, held)
		release(w, at.Granted())
	}, zktest.WithTraceLimit(0))
}
