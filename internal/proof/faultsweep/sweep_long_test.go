package faultsweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestEveryCallOfLongHoldsFails strikes each call of a run in each way in which leases are
// held for so long that a quorum has to vouch for holders, and for who is granted next.
func TestEveryCallOfLongHoldsFails(t *testing.T) {
	for _, recipe := range []conformance.Recipe{aMutex, aReadWriteLock, aMixedSemaphore} {
		t.Run(recipe.Name, func(t *testing.T) {
			p := Plan{Recipe: recipe, Clients: 3, Rounds: 1, Seed: 1, Hold: 3701 * time.Millisecond}
			free := p.Run(t)
			require.Empty(t, free.Broken)
			require.Zero(t, free.Lost)
			vouched, lost, failed := 0, 0, 0
			for n := 1; n <= free.Calls && failed < 3; n += slowdown {
				for _, action := range Actions() {
					p.Faults = zktest.Schedule{{N: n, Action: action}}
					report := p.Run(t)
					if fail(t, p, report) {
						failed++
					}
					lost += report.Lost
					for _, e := range report.Trace {
						if e.Op == zktest.OpMulti && e.Action != zktest.Pass {
							vouched++
						}
					}
				}
			}
			t.Logf("%d calls, %d faults struck a transaction that vouches, %d leases lost", free.Calls, vouched, lost)
			require.Positive(t, lost, "no fault hit a holder")
			require.Greater(t, vouched, 20/slowdown)
		})
	}
}
