package integration

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// BenchmarkFreeStripe compares acquire and release of the free stripe of a key, and of
// any free stripe, with those of a mutex: ms of each, and medians of the ratios.
func BenchmarkFreeStripe(b *testing.B) {
	client := benchServer(b)
	stripes := benchStripes(b, client, "/locks/free-stripes", 16)
	all := []lease.Acquirer{benchMutex(b, client, "/locks/free"), stripes.For("key"), anyStripe{stripes}}
	var took [3][]time.Duration
	for _, a := range all {
		cycle(b, a) // which makes the parents, and learns the number of stripes
	}
	for b.Loop() {
		for i, a := range all {
			start := time.Now()
			cycle(b, a)
			took[i] = append(took[i], time.Since(start))
		}
	}
	for i, unit := range []string{"ms/mutex", "ms/key", "ms/any"} {
		b.ReportMetric(median(took[i]).Seconds()*1000, unit)
	}
	b.ReportMetric(median(took[1]).Seconds()/median(took[0]).Seconds(), "key/mutex")
	b.ReportMetric(median(took[2]).Seconds()/median(took[0]).Seconds(), "any/mutex")
}

// BenchmarkAnyStripe has several clients, with some goroutines each, acquire any of n
// stripes, and beside that one mutex, again and again for a slice of time each. For 16
// stripes "n16/mutex" is how many times as many leases they grant, and "n16-cpu" how
// many times as much of the clients' processor time each takes: medians over the rounds.
func BenchmarkAnyStripe(b *testing.B) {
	for _, c := range []struct {
		clients, goroutines int
		stripes             []int
		hold                []time.Duration
	}{
		{4, 4, []int{1, 2, 4, 16}, []time.Duration{0, 2 * time.Millisecond, 5 * time.Millisecond}},
		{4, 16, []int{16, 64}, []time.Duration{0}},
		{8, 1, []int{1, 8, 16}, []time.Duration{5 * time.Millisecond}},
		{1, 64, []int{1, 16}, []time.Duration{5 * time.Millisecond}},
	} {
		for _, hold := range c.hold {
			b.Run(fmt.Sprintf("clients=%d/goroutines=%d/hold=%v", c.clients, c.goroutines, hold), func(b *testing.B) {
				benchAny(b, c.clients, c.goroutines, c.stripes, hold)
			})
		}
	}
}

// slice returns for how long one of them is measured before the next.
func slice() time.Duration {
	if testing.Short() {
		return time.Second / 8
	}
	return time.Second
}

func benchAny(b *testing.B, clients, goroutines int, stripes []int, hold time.Duration) {
	b.Helper()
	servers := ensemble.New(b, benchOptions(true))
	single, striped := make([]lease.Acquirer, clients), make([][]lease.Acquirer, len(stripes))
	for i := range clients {
		client := connect(b, servers.Servers()[0])
		single[i] = benchMutex(b, client, "/locks/single")
		for k, n := range stripes {
			striped[k] = append(striped[k], anyStripe{benchStripes(b, client, fmt.Sprintf("/locks/of-%d", n), n)})
		}
	}
	all := append([][]lease.Acquirer{single}, striped...)
	for start := time.Now(); time.Since(start) < warmUp(); {
		for _, a := range all {
			contendFor(b, a, goroutines, 0, slice()/8)
		}
	}
	rates, cpu := make([][]float64, len(all)), make([][]float64, len(all))
	for b.Loop() {
		for i, a := range all {
			rate, each := contendFor(b, a, goroutines, hold, slice())
			rates[i], cpu[i] = append(rates[i], rate), append(cpu[i], each)
		}
	}
	b.ReportMetric(median(rates[0]), "mutex/s")
	b.ReportMetric(median(cpu[0])*1e6, "mutex-cpu-us")
	for i, n := range stripes {
		b.ReportMetric(median(ratios(rates[i+1], rates[0])), fmt.Sprintf("n%d/mutex", n))
		b.ReportMetric(median(ratios(cpu[i+1], cpu[0])), fmt.Sprintf("n%d-cpu", n))
	}
}

// contendFor has some goroutines of each client acquire and release again and again. It
// returns the grants per second, and the processor time of this process for each.
func contendFor(b *testing.B, of []lease.Acquirer, goroutines int, hold, d time.Duration) (rate, cpu float64) {
	var grants atomic.Int64
	var group sync.WaitGroup
	start, busy := time.Now(), processorTime(b)
	for _, a := range of {
		for range goroutines {
			group.Go(func() {
				for time.Since(start) < d {
					held, err := a.Acquire(context.Background(), time.Minute)
					if err != nil {
						b.Error(err)
						return
					}
					if hold > 0 {
						<-time.After(hold)
					}
					grants.Add(1)
					if err := held.Release(); err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	n := float64(grants.Load())
	return n / time.Since(start).Seconds(), (processorTime(b) - busy).Seconds() / n
}

// processorTime returns what this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func median[T float64 | time.Duration](of []T) T {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}

func ratios(of, to []float64) (all []float64) {
	for i := range of {
		all = append(all, of[i]/to[i])
	}
	return all
}

func benchStripes(b *testing.B, client *framework.Client, path string, n int) *striped.Locks {
	b.Helper()
	l, err := striped.New(client, path, n)
	require.NoError(b, err)
	return l
}

type anyStripe struct{ *striped.Locks }

func (a anyStripe) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, _, err := a.AcquireAny(ctx, timeout)
	return held, err
}
