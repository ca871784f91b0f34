package faultsweep

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The semaphores that are swept: of so many permits, of which each acquirer takes in
// turn as many as the list says.
var (
	aSemaphore        = semaphores("aSemaphore", 2, []int{1})
	aBinarySemaphore  = semaphores("aBinarySemaphore", 1, []int{1})
	aWideSemaphore    = semaphores("aWideSemaphore", 4, []int{3})
	aMixedSemaphore   = semaphores("aMixedSemaphore", 3, []int{1, 2, 3})
	aBriefSemaphore   = semaphores("aBriefSemaphore", 3, []int{2, 1}, semaphore.WithMaxHold(61*time.Millisecond))
	aSingleQueue      = semaphores("aSingleQueue", 2, []int{1}, semaphore.WithSingleQueue())
	aBinarySingle     = semaphores("aBinarySingle", 1, []int{1}, semaphore.WithSingleQueue())
	aMixedSingleQueue = semaphores("aMixedSingleQueue", 3, []int{1, 2, 3}, semaphore.WithSingleQueue())
	aBriefSingleQueue = semaphores("aBriefSingleQueue", 3, []int{2, 1}, semaphore.WithSingleQueue(), semaphore.WithMaxHold(61*time.Millisecond))

	allSemaphores = []conformance.Recipe{
		aSemaphore, aBinarySemaphore, aWideSemaphore, aMixedSemaphore, aBriefSemaphore,
		aSingleQueue, aBinarySingle, aMixedSingleQueue, aBriefSingleQueue,
	}
)

// weighed takes several permits, in turn as many as asks says. The lease's context
// knows how many.
type weighed struct {
	*semaphore.Semaphore
	asks []int

	mu   sync.Mutex
	next int
}

type weightKey struct{}

func (w *weighed) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	w.mu.Lock()
	n := w.asks[w.next%len(w.asks)]
	w.next++
	w.mu.Unlock()
	return w.AcquireN(context.WithValue(ctx, weightKey{}, n), n, timeout)
}

func semaphores(name string, permits int, asks []int, opts ...semaphore.Option) conformance.Recipe {
	return conformance.Recipe{
		Name: name, Places: permits, NotReentrant: true,
		New: func(c *framework.Client, path string) lease.Acquirer {
			s, err := semaphore.New(c, path, permits, opts...)
			if err != nil {
				panic(err)
			}
			return &weighed{Semaphore: s, asks: asks}
		},
		Weight: func(l *lease.Lease) int {
			n, _ := l.Context().Value(weightKey{}).(int)
			return n
		},
	}
}

func TestSemaphoresWithoutFaults(t *testing.T) {
	for _, r := range allSemaphores {
		for _, clients := range []int{1, 3, 5} {
			p := Plan{Recipe: r, Clients: clients, Impatient: clients, Rounds: 3, Seed: uint64(clients), Hold: 101 * time.Millisecond}
			report := p.Run(t)
			fail(t, p, report)
			require.GreaterOrEqual(t, report.Grants, 3*clients)
		}
	}
}

// TestEveryCallOfSemaphoresFails strikes each call of a run in each way.
func TestEveryCallOfSemaphoresFails(t *testing.T) {
	for _, r := range []conformance.Recipe{aMixedSemaphore, aMixedSingleQueue} {
		t.Run(r.Name, func(t *testing.T) {
			p := Plan{Recipe: r, Clients: 3, Impatient: 3, Rounds: 1, Seed: 1, Hold: 101 * time.Millisecond}
			calls := p.Run(t).Calls
			require.Greater(t, calls, 50)
			runs, lost, failed := 0, 0, 0
			for n := 1; n <= calls && failed < 3; n += slowdown {
				for _, action := range Actions() {
					p.Faults = zktest.Schedule{{N: n, Action: action}}
					report := p.Run(t)
					if fail(t, p, report) {
						failed++
					}
					runs++
					lost += report.Lost
				}
			}
			t.Logf("%d runs, %d calls each, %d leases lost", runs, calls, lost)
			require.Positive(t, lost, "no fault hit a holder")
		})
	}
}

// TestRandomFaultsOfSemaphores runs random plans. ZKRECIPES_SCHEDULES is how many, and
// ZKRECIPES_SEED the first seed.
func TestRandomFaultsOfSemaphores(t *testing.T) {
	first, runs := amount(t, "ZKRECIPES_SEED", 1), amount(t, "ZKRECIPES_SCHEDULES", 450/slowdown)
	grants, lost, failed := 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hangs {
			runs = seed - first
			t.Logf("no time for more than %d", runs)
			break
		}
		p := Random(allSemaphores[seed%len(allSemaphores)], uint64(seed))
		report := p.Run(t)
		grants += report.Grants
		lost += report.Lost
		if len(report.Broken) > 0 {
			failed++
			p, report = shrink(t, p, report)
			fail(t, p, report)
		}
	}
	t.Logf("%d plans, %d grants, %d leases lost", runs, grants, lost)
	require.Positive(t, lost, "no fault hit a holder")
}
