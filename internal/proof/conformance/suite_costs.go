package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What acquiring costs, in requests.
var costs = rows{
	"a try that fails only reads":                  failedTryOnlyReads,
	"a hand-over costs the same with more waiters": handOverCosts,
}

// failedTryOnlyReads counts the requests of tries that fail: a listing, and for a
// semaphore its size. They leave no watch.
func failedTryOnlyReads(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	a := r.New(w.Client("b"), path)
	w.After(time.Second)
	watches := w.Server.Watches()
	for _, timeout := range []time.Duration{0, -1, -time.Hour} {
		requests := w.Requests(func() {
			at := w.Start(a, timeout)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
			require.Zero(t, at.Took)
		})
		require.LessOrEqual(t, requests[zktest.OpGetData], 1)
		delete(requests, zktest.OpGetData)
		require.Equal(t, map[zktest.Op]int{zktest.OpGetChildren2: 1}, requests)
	}
	require.Equal(t, watches, w.Server.Watches())
	release(t, held...)
}

// handOverCosts counts the requests of a hand-over to the next waiter, with few and
// with many waiters.
func handOverCosts(t *testing.T, w *World, r Recipe) {
	costs := map[int]int{}
	release(t, w.Acquire(r.next()(w.Named("a"), path))) // what a client does once
	for _, waiters := range []int{10, 50} {
		held := fill(w, r)
		c := w.Named("a")
		var all []*Attempt
		for range waiters {
			all = append(all, w.Start(r.next()(c, path), lease.Forever))
		}
		w.After(time.Second)
		cost := Total(w.Requests(func() { release(t, held[0]) }))
		for i, at := range all {
			last := at.Granted()
			again := w.Requests(func() { release(t, last) })
			if i == 1 {
				costs[waiters] = cost + Total(again)
			}
		}
		release(t, held[1:]...)
	}
	require.Equal(t, costs[10], costs[50])
}
