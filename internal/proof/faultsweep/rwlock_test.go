package faultsweep

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A read-write lock whose clients read, write, and become readers after writing.
var (
	aReadWriteLock      = readWriteLock("aReadWriteLock")
	aBriefReadWriteLock = readWriteLock("aBriefReadWriteLock", rwlock.WithMaxHold(61*time.Millisecond))
)

func readWriteLock(name string, opts ...rwlock.Option) conformance.Recipe {
	side := func(of func(*rwlock.Lock) lease.Acquirer) func(c *framework.Client, path string) lease.Acquirer {
		return func(c *framework.Client, path string) lease.Acquirer {
			l, err := rwlock.New(c, path, opts...)
			if err != nil {
				panic(err)
			}
			return of(l)
		}
	}
	return conformance.Recipe{
		Name: name, New: side((*rwlock.Lock).Write), Readers: side((*rwlock.Lock).Read),
		Shares: func(l *lease.Lease) bool { return strings.Contains(l.Path(), "__READ__") },
	}
}

func TestReadWriteLockWithoutFaults(t *testing.T) {
	became := 0
	for seed := range uint64(40) {
		p := Plan{Recipe: aReadWriteLock, Clients: 1 + int(seed%5), Impatient: 5, Rounds: 2, Seed: seed, Hold: 101 * time.Millisecond}
		report := p.Run(t)
		fail(t, p, report)
		require.Zero(t, report.Lost)
		became += report.Became
	}
	require.Greater(t, became, 40)
}

// TestReadWriteLockEveryCallFails strikes each call of some runs in each way.
func TestReadWriteLockEveryCallFails(t *testing.T) {
	runs, became, lost, failed := 0, 0, 0, 0
	for seed := range uint64(3) {
		p := Plan{Recipe: aReadWriteLock, Clients: 3, Impatient: 3, Rounds: 1, Seed: 1 + seed, Hold: 101 * time.Millisecond}
		calls := p.Run(t).Calls
		require.Greater(t, calls, 50)
		for n := 1; n <= calls && failed < 3; n += slowdown {
			for _, action := range Actions() {
				p.Faults = zktest.Schedule{{N: n, Action: action}}
				report := p.Run(t)
				if fail(t, p, report) {
					failed++
				}
				runs++
				became += report.Became
				lost += report.Lost
			}
		}
	}
	t.Logf("%d runs, %d writers became readers, %d leases lost", runs, became, lost)
	require.Positive(t, lost, "no fault hit a holder")
	require.Positive(t, became, "nobody downgraded")
}

// TestReadWriteLockRandomFaults runs random plans, as TestRandomFaults does.
func TestReadWriteLockRandomFaults(t *testing.T) {
	first, runs := amount(t, "ZKRECIPES_SEED", 1), amount(t, "ZKRECIPES_SCHEDULES", 500/slowdown)
	began := time.Now()
	became, lost, failed := 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hangs {
			runs = seed - first
			t.Logf("no time for more than %d", runs)
			break
		}
		r := aReadWriteLock
		if seed%8 == 0 {
			r = aBriefReadWriteLock
		}
		p := Random(r, uint64(seed))
		report := p.Run(t)
		became += report.Became
		lost += report.Lost
		if len(report.Broken) > 0 {
			failed++
			p, report = shrink(t, p, report)
			fail(t, p, report)
		}
	}
	t.Logf("%d plans, %d writers became readers, %d leases lost, %.0f plans a minute", runs, became, lost, float64(runs)/time.Since(began).Minutes())
	require.Positive(t, lost, "no fault hit a holder")
	require.Positive(t, became, "nobody downgraded")
}
