package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// BenchmarkLockDelay has goroutines acquire and release mutexes with a lock-delay, and
// beside that the same without one, again and again for a slice of time each. "delay"
// is the rate relative to that without, and "delay-cpu" the clients' processor time for
// a lease: medians over the rounds. In "own" each goroutine has a mutex of its own.
func BenchmarkLockDelay(b *testing.B) {
	for _, c := range []struct {
		name                string
		clients, goroutines int
		own                 bool
	}{
		{"own", 1, 1, true}, {"own", 1, 16, true}, {"own", 1, 128, true},
		{"one", 2, 1, false}, {"one", 4, 1, false}, {"one", 1, 2, false}, {"one", 1, 16, false}, {"one", 4, 4, false},
	} {
		b.Run(fmt.Sprintf("%s/clients=%d/goroutines=%d", c.name, c.clients, c.goroutines), func(b *testing.B) {
			servers := ensemble.New(b, benchOptions(true))
			all := make([][]lease.Acquirer, 2) // without, with
			goroutines := c.goroutines
			for range c.clients {
				client := connect(b, servers.Servers()[0])
				add := func(n int) {
					for i, opts := range [][]mutex.Option{nil, {mutex.WithLockDelay(15 * time.Second)}} {
						all[i] = append(all[i], newMutex(b, client, fmt.Sprintf("/locks/%d-%d", i, n), opts...))
					}
				}
				if !c.own {
					add(0)
					continue
				}
				for n := range c.goroutines {
					add(n)
				}
				goroutines = 1 // for each mutex
			}
			benchBeside(b, all[0], all[1], goroutines)
		})
	}
}

// benchBeside measures both alternately, and reports the second by the first.
func benchBeside(b *testing.B, first, second []lease.Acquirer, goroutines int) {
	b.Helper()
	all := [][]lease.Acquirer{first, second}
	for start := time.Now(); time.Since(start) < warmUp(); {
		for _, a := range all {
			contendFor(b, a, goroutines, 0, slice()/8)
		}
	}
	rates, cpu := make([][]float64, len(all)), make([][]float64, len(all))
	for b.Loop() {
		for i, a := range all {
			rate, each := contendFor(b, a, goroutines, 0, slice())
			rates[i], cpu[i] = append(rates[i], rate), append(cpu[i], each)
		}
	}
	b.ReportMetric(median(rates[0]), "mutex/s")
	b.ReportMetric(median(cpu[0])*1e6, "mutex-cpu-us")
	b.ReportMetric(median(ratios(rates[1], rates[0])), "delay")
	b.ReportMetric(median(ratios(cpu[1], cpu[0])), "delay-cpu")
}
