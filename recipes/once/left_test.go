package once_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Many goroutines of few clients wait for one run. All of them return when it is
// recorded, at few requests, and leave nothing.
func TestManyWaiters(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const clients, each = 4, 200
		held := w.Acquire(newJob(t, w.Client("holder")).Key("a"))
		errs := make(chan error)
		for i := range clients {
			j := newJob(t, w.Client(fmt.Sprint("c", i)))
			for range each {
				go func() { errs <- j.Do(t.Context(), "a", nothing) }()
			}
		}
		w.After(time.Minute)
		requests := w.Requests(func() {
			began := time.Now()
			require.NoError(t, newJob(t, w.Known("holder")).Key("a").Record(t.Context(), held))
			for range clients * each {
				require.NoError(t, <-errs)
			}
			require.Less(t, time.Since(began), time.Second)
		})
		require.LessOrEqual(t, requests[zktest.OpGetData], 4*clients*each)
		require.NoError(t, held.Release())
		w.After(20 * time.Second)
		require.Empty(t, w.Ephemerals("/"))
		require.LessOrEqual(t, w.Server.Watches(), 10*clients)
	})
}

// After many ticks there are no more watches, goroutines and memory in use than before.
func TestManyTicks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		silent := func(cfg *framework.Config) { cfg.Observers = nil } // the log of a World grows
		jobs := []*once.Job{
			newJob(t, w.Client("a", silent), once.WithRetention(time.Minute)),
			newJob(t, w.Client("b", silent), once.WithRetention(time.Minute)),
		}
		ticks := func(n int) (heap uint64, goroutines, watches int) {
			for range n {
				tickOfAll(t, w, jobs)
			}
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc, runtime.NumGoroutine(), w.Server.Watches()
		}
		heap, goroutines, watches := ticks(50)
		later, goroutinesLater, watchesLater := ticks(300)
		require.Less(t, later, heap+(2<<20))
		require.Less(t, goroutinesLater, goroutines+20)
		require.Less(t, watchesLater, watches+20)
		require.LessOrEqual(t, len(w.Server.Children(done)), 80)
	}, zktest.WithTraceLimit(0))
}

// tickOfAll has all jobs do the tick of this second, and waits for the next one.
func tickOfAll(t *testing.T, w *conformance.World, jobs []*once.Job) {
	tick := time.Now().Truncate(time.Second)
	var all sync.WaitGroup
	for _, j := range jobs {
		all.Go(func() {
			err := j.Tick(tick).Do(t.Context(), func(context.Context, *lease.Lease) error {
				time.Sleep(10 * time.Millisecond)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.After(time.Until(tick.Add(time.Second)))
}
