package faultsweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestWithoutFaults runs plans without faults, in which no lease may be lost.
func TestWithoutFaults(t *testing.T) {
	for _, r := range slices.Concat([]conformance.Recipe{aMutex, anAsyncMutex, aLeader, aMultiLock, aForeignOrder, aMixedMultiLock}, allStripes, allRuns, allSemaphores) {
		t.Run(r.Name, func(t *testing.T) {
			for _, clients := range []int{1, 2, 3, 5} {
				withoutFaults(t, Plan{
					Recipe: r, Lead: r.Name == aLeader.Name, Clients: clients, Impatient: clients,
					Rounds: 2, Seed: uint64(clients), Hold: 101 * time.Millisecond,
				})
			}
		})
	}
	t.Run(aReadWriteLock.Name, func(t *testing.T) {
		downgrades := 0
		for seed := range uint64(40) {
			downgrades += withoutFaults(t, Plan{
				Recipe: aReadWriteLock, Clients: 1 + int(seed%5), Impatient: 5,
				Rounds: 2, Seed: seed, Hold: 101 * time.Millisecond,
			}).Downgrades
		}
		require.Greater(t, downgrades, 40)
	})
}

func withoutFaults(t *testing.T, p Plan) Report {
	t.Helper()
	report := p.Run(t)
	fail(t, p, report)
	require.GreaterOrEqual(t, report.Grants, p.Rounds*p.Clients)
	if p.Recipe.Name != aBriefSemaphore.Name && p.Recipe.Name != aBriefSingleQueue.Name {
		require.Zero(t, report.Lost)
	}
	return report
}

// TestEveryCallFails strikes each call of a run with each fault.
func TestEveryCallFails(t *testing.T) {
	brief := func(r conformance.Recipe, leads bool) Plan {
		return Plan{Recipe: r, Lead: leads, Clients: 3, Impatient: 3, Rounds: 1, Seed: 1, Hold: 101 * time.Millisecond}
	}
	for name, p := range map[string]Plan{
		"aMutex": brief(aMutex, false), "anAsyncMutex": brief(anAsyncMutex, false), "aReadWriteLock": brief(aReadWriteLock, false),
		"aMixedSemaphore": brief(aMixedSemaphore, false), "aMixedSingleQueue": brief(aMixedSingleQueue, false),
		"aMultiLock": brief(aMultiLock, false), "aForeignOrder": brief(aForeignOrder, false), "aMixedMultiLock": {Recipe: aMixedMultiLock, Seed: 2, Clients: 3, Impatient: 1, Rounds: 1, Hold: 101 * time.Millisecond},
		"aStripe": brief(aStripe, false), "anyStripe": brief(anyStripe, false), "aResizedStripe": brief(aResizedStripe, false),
		"anyResizedStripe": brief(anyResizedStripe, false),
		"aRun":             brief(aRun, false), "aJob": brief(aJob, false),
		"aLeader": brief(aLeader, false), "aLeaderLeading": brief(aLeader, true),
	} {
		t.Run(name, func(t *testing.T) {
			seeds, downgrades := 1, 0
			if p.Recipe.Name == aReadWriteLock.Name {
				seeds = 3 // its clients act by the seed
			}
			for range seeds {
				downgrades += sweep(t, p).downgrades
				p.Seed++
			}
			require.True(t, downgrades > 0 || p.Recipe.Name != aReadWriteLock.Name, "no client downgraded")
		})
	}
}

// TestEveryCallOfLongHoldsFails does the same with leases that are held so long that a
// quorum has to vouch for holders, and for the next to be granted.
func TestEveryCallOfLongHoldsFails(t *testing.T) {
	for _, recipe := range []conformance.Recipe{aMutex, aReadWriteLock, aMixedSemaphore, aMultiLock, aStripe, anyStripe} {
		t.Run(recipe.Name, func(t *testing.T) {
			found := sweep(t, Plan{Recipe: recipe, Clients: 3, Rounds: 1, Seed: 1, Hold: 3701 * time.Millisecond})
			require.Greater(t, found.multis, 20/extent.Slowdown())
		})
	}
}

// A sum is the result of a sweep.
type sum struct {
	runs, grants, lost, downgrades int
	made                           int // the next leader by MakeNext
	unclean                        int // ends that a lock-delay may have followed
	multis                         int // transactions that were struck; in a long hold those that vouch
}

func sweep(t *testing.T, p Plan) (all sum) {
	t.Helper()
	free := p.Run(t)
	fail(t, p, free)
	require.Greater(t, free.Calls, 50)
	for n, failed := 1, 0; n <= free.Calls && failed < 3; n += extent.Slowdown() {
		for _, action := range Actions() {
			p.Faults = zktest.Schedule{{N: n, Action: action}}
			report := p.Run(t)
			if fail(t, p, report) {
				failed++
			}
			all.runs++
			all.grants += report.Grants
			all.lost += report.Lost
			all.downgrades += report.Downgrades
			all.made += report.Made
			all.unclean += report.Unclean
			for _, e := range report.Trace {
				if e.Op == zktest.OpMulti && e.Action != zktest.Pass {
					all.multis++
				}
			}
		}
	}
	t.Logf("%d calls: %+v", free.Calls, all)
	require.Positive(t, all.lost, "no fault hit a holder")
	return all
}

// fail reports a run that broke an invariant, and how to repeat it.
func fail(t *testing.T, p Plan, r Report) bool {
	t.Helper()
	if len(r.Broken) == 0 {
		return false
	}
	t.Errorf("%s\nto repeat it: %v\n%s", strings.Join(r.Broken, "\n"), p, ending(r.Trace))
	return true
}

// ending is the last part of a trace.
func ending(trace []zktest.Event) string {
	var b strings.Builder
	for _, e := range trace[max(0, len(trace)-60):] {
		if e.Op != zktest.OpPing && e.Op != zktest.OpSync {
			fmt.Fprintf(&b, "  %v\n", e)
		}
	}
	return b.String()
}
