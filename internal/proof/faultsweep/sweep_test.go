package faultsweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestWithoutFaults(t *testing.T) {
	for _, clients := range []int{1, 2, 3, 5} {
		p := Plan{Recipe: aMutex, Clients: clients, Impatient: clients, Rounds: 2, Seed: uint64(clients), Hold: 101 * time.Millisecond}
		report := p.Run(t)
		require.Empty(t, report.Broken)
		require.GreaterOrEqual(t, report.Grants, 2*clients)
		require.Zero(t, report.Lost)
		t.Logf("%d clients: %d calls, %d grants", clients, report.Calls, report.Grants)
	}
}

// TestEveryCallFails strikes each call of a run in each way.
func TestEveryCallFails(t *testing.T) {
	p := Plan{Recipe: aMutex, Clients: 3, Impatient: 3, Rounds: 1, Seed: 1, Hold: 101 * time.Millisecond}
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
	t.Logf("%d runs, %d calls each, %d grants, %d leases lost", runs, calls, grants, lost)
	require.Positive(t, lost, "no fault hit a holder")
}

// fail reports a run that broke an invariant, if it did, with what is needed to see it again.
func fail(t *testing.T, p Plan, r Report) bool {
	t.Helper()
	if len(r.Broken) == 0 {
		return false
	}
	t.Errorf("%s\nto see it again: %v\n%s", strings.Join(r.Broken, "\n"), p, ending(r.Trace))
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
