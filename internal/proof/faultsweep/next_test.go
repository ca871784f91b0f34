package faultsweep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

// TestEveryCallOfMakeNextFails strikes each call of a run in which a candidate is made
// the next leader: those of the caller, and those of the candidates that step back. In
// the first run another client calls MakeNext, in the second one the leader.
func TestEveryCallOfMakeNextFails(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		found := sweep(t, Plan{Recipe: aLeader, Next: true, Clients: 4, Rounds: 1, Seed: seed})
		require.Greater(t, found.made, found.runs/2)
	}
}

// callsOfMakeNext is about the number of calls of such a run without faults.
const callsOfMakeNext = 200

// TestMakeNextUnderRandomFaults runs random plans as TestLeanFaults does for a mutex.
func TestMakeNextUnderRandomFaults(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", 400/extent.Slowdown())
	lost, made, failed := 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		recipes := []conformance.Recipe{aLeader, aLeader, aDelayedLeader, aRestingLeader}
		p := RandomLean(recipes[uint64(seed)*0x9e3779b97f4a7c15>>62], uint64(seed))
		p.Next, p.Clients, p.Impatient = true, 4, 0
		for i := range p.Faults {
			p.Faults[i].N = p.Faults[i].N*callsOfMakeNext/callsPerRun + int(p.Seed%2)
		}
		report := p.Run(t)
		lost += report.Lost
		made += report.Made
		if len(report.Broken) > 0 {
			failed++
			p, report = shrink(t, p, report)
			fail(t, p, report)
		}
	}
	t.Logf("%d runs, %d candidates were made the next leader, %d terms lost", runs, made, lost)
	require.Positive(t, lost, "no fault hit a holder")
	require.Greater(t, made, runs/2)
}
