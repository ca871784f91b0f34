package faultsweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var aLeader = conformance.Recipe{Name: "aLeader", Places: 1, New: func(c *framework.Client, path string) lease.Acquirer {
	e, err := leader.New(c, path, "")
	if err != nil {
		panic(err)
	}
	return e
}}

// TestLeadWithoutFaults is a run in which nothing may be lost.
func TestLeadWithoutFaults(t *testing.T) {
	for _, clients := range []int{1, 2, 3, 5} {
		p := Plan{Recipe: aLeader, Lead: true, Clients: clients, Impatient: clients, Rounds: 2, Seed: uint64(clients), Hold: 101 * time.Millisecond}
		report := p.Run(t)
		require.Empty(t, report.Broken)
		require.GreaterOrEqual(t, report.Grants, 2*clients)
		require.Zero(t, report.Lost)
		t.Logf("%d clients: %d calls, %d grants", clients, report.Calls, report.Grants)
	}
}

// TestEveryCallOfAnElectionFails strikes each call of a run in each way, in clients that
// acquire and in clients that use Lead.
func TestEveryCallOfAnElectionFails(t *testing.T) {
	for _, leads := range []bool{true, false} {
		p := Plan{Recipe: aLeader, Lead: leads, Clients: 3, Impatient: 3, Rounds: 1, Seed: 1, Hold: 101 * time.Millisecond}
		calls := p.Run(t).Calls
		require.Greater(t, calls, 50)
		runs, grants, lost, failed := 0, 0, 0, 0
		for n := 1; n <= calls && failed < 3; n += slowdown {
			for _, action := range Actions() {
				p.Faults = zktest.Schedule{{N: n, Action: action}}
				report := p.Run(t)
				if fail(t, p, report) {
					failed++
				}
				runs++
				grants += report.Grants
				lost += report.Lost
			}
		}
		t.Logf("Lead %v: %d runs, %d calls each, %d grants, %d leases lost", leads, runs, calls, grants, lost)
		require.Positive(t, lost, "no fault hit a leader")
	}
}

// TestRandomFaultsInElections runs random plans, three of four with Lead; see
// TestRandomFaults.
func TestRandomFaultsInElections(t *testing.T) {
	first, runs := amount(t, "ZKRECIPES_SEED", 1), amount(t, "ZKRECIPES_SCHEDULES", 400/slowdown)
	began := time.Now()
	grants, lost, failed := 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hangs {
			runs = seed - first
			t.Logf("no time for more than %d", runs)
			break
		}
		p := Random(aLeader, uint64(seed))
		p.Lead = seed%4 != 0
		report := p.Run(t)
		grants += report.Grants
		lost += report.Lost
		if len(report.Broken) > 0 {
			failed++
			p, report = shrink(t, p, report)
			fail(t, p, report)
		}
	}
	t.Logf("%d plans, %d grants, %d leases lost, %.0f plans a minute", runs, grants, lost, float64(runs)/time.Since(began).Minutes())
	require.Positive(t, lost, "no fault hit a leader")
}
