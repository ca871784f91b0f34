package integration

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// BenchmarkThroughput compares the rate at which goroutines acquire and release free
// mutexes with the rate of raw pairs, on one connection and alternately. Each goroutine
// has its own mutex, so that none waits. "%of-raw" is the rate relative to the pairs'.
//
// BenchmarkFree makes one cycle at a time, and a server that waits for its disk has
// time for a listing. With many at once the processors are busy, and the amount of work
// counts.
func BenchmarkThroughput(b *testing.B) {
	for _, workers := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", workers), func(b *testing.B) {
			client := benchServer(b)
			locks := make([]*mutex.Mutex, workers)
			for i := range locks {
				locks[i] = benchMutex(b, client, fmt.Sprintf("/locks/free-%d", i))
			}
			turns := max(64, 8*workers)
			var raw, lock time.Duration
			for b.Loop() {
				raw += together(workers, turns, func(int) { rawPair(b, client) })
				lock += together(workers, turns, func(i int) { cycle(b, locks[i]) })
			}
			n := float64(b.N * turns)
			b.ReportMetric(n/raw.Seconds(), "raw/s")
			b.ReportMetric(n/lock.Seconds(), "mutex/s")
			b.ReportMetric(100*float64(raw)/float64(lock), "%of-raw")
		})
	}
}

// together lets goroutines do something n times in all, and returns the time it took.
func together(workers, n int, do func(worker int)) time.Duration {
	var group sync.WaitGroup
	start := time.Now()
	for worker := range workers {
		group.Go(func() {
			for range n / workers {
				do(worker)
			}
		})
	}
	group.Wait()
	return time.Since(start)
}
