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

// seeds is how many histories are made of each recipe in the long form.
const seeds = 600

// explore makes random histories of a recipe and checks them. ZKRECIPES_SCHEDULES is
// how many, and ZKRECIPES_SEED the first seed.
func explore(t *testing.T, name string) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", seeds/extent.Slowdown())
	began := time.Now()
	grants, lost, struck, calls, ops, failed := 0, 0, 0, 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hangs {
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
				t.FailNow() // whoever asks for that wants to know soon, as the test with mutants does
			}
			s, report = shrink(t, s, report)
			complain(t, s, report)
		}
	}
	t.Logf("%d histories, %d operations, %d calls, %d grants, %d leases lost, %d holders struck who were cut off from the majority, %.0f histories a minute",
		runs, ops, calls, grants, lost, struck, float64(runs)/time.Since(began).Minutes())
	require.Positive(t, lost, "no fault hit a holder")
	require.True(t, struck > 0 || failed > 0 || runs < 100, "nobody held who was cut off from the majority")
}

// complain reports a history that is against the rules, with what is needed to see it
// again.
func complain(t *testing.T, s Scenario, r Report) {
	t.Helper()
	t.Errorf("%s\nto see it again: %v\nhistory:\n%send of the trace:\n%s", strings.Join(r.Broken, "\n"), s, table(r.History), ending(r.Trace))
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
