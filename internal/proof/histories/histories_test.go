package histories

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMutex(t *testing.T) { explore(t, "mutex") }

func TestReadWriteLock(t *testing.T) { explore(t, "rwlock") }

func TestSemaphore(t *testing.T) { explore(t, "semaphore") }

func TestSemaphoreWithSingleQueue(t *testing.T) { explore(t, "single queue") }

func TestLeaderElection(t *testing.T) { explore(t, "leader") }

// seeds is the number of histories of each recipe in the long form.
const seeds = 600

// explore makes random histories of a recipe and checks them. ZKRECIPES_SCHEDULES is
// their number, and ZKRECIPES_SEED the first seed.
func explore(t *testing.T, name string) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", seeds/extent.Slowdown())
	began := time.Now()
	grants, lost, struck, calls, ops, failed := 0, 0, 0, 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hungAfter {
			runs = seed - first
			t.Logf("no time for more than %d", runs)
			break
		}
		s := random(subjects[name], uint64(seed))
		report := s.Run(t)
		grants += report.Grants
		lost += report.Lost
		struck += min(report.Struck, 1)
		calls += report.Calls
		ops += len(report.History)
		if len(report.Broken) > 0 {
			failed++
			t.Logf("seed %d: %s", seed, strings.Join(report.Broken, "\n"))
			if flag.Lookup("test.failfast").Value.String() == "true" {
				t.FailNow() // the first failure is enough, as for the test with mutants
			}
			s, report = shrink(t, s, report)
			reportFailure(t, s, report)
		}
	}
	t.Logf("%d histories, %d operations, %d calls, %d grants, %d leases lost, %d holders struck while cut off from the majority, %.0f histories a minute",
		runs, ops, calls, grants, lost, struck, float64(runs)/time.Since(began).Minutes())
	require.Positive(t, lost, "no fault hit a holder")
	require.True(t, struck > 0 || failed > 0 || runs < 100, "no lease was held by a client that was cut off from the majority")
}

// reportFailure reports a history that breaks an invariant, and how to repeat it.
func reportFailure(t *testing.T, s Scenario, r Report) {
	t.Helper()
	t.Errorf("%s\nto repeat it: %v\nhistory:\n%send of the trace:\n%s", strings.Join(r.Broken, "\n"), s, table(r.History), ending(r.Trace))
}

// ending is the last part of a trace.
func ending(trace []zktest.Event) string {
	var lines []string
	for _, e := range trace {
		if e.Op != zktest.OpPing && (e.Op != zktest.OpSync || e.Path != "/") {
			lines = append(lines, fmt.Sprintf("  %v %v\n", e.Time.Format("05.000000"), e))
		}
	}
	return strings.Join(lines[max(0, len(lines)-80):], "")
}
