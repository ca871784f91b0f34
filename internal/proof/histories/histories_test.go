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

func TestMutex(t *testing.T) { exploreAlone(t, "mutex") }

func TestReadWriteLock(t *testing.T) { exploreAlone(t, "rwlock") }

func TestSemaphore(t *testing.T) { exploreAlone(t, "semaphore") }

func TestSemaphoreWithSingleQueue(t *testing.T) { exploreAlone(t, "single queue") }

func TestLeaderElection(t *testing.T) { exploreAlone(t, "leader") }

// seeds is the number of histories of each recipe in the long form.
const seeds = 600

// A tally is what many histories have reached.
type tally struct {
	runs, operations, calls, grants, lost, struck, failed int

	handedOver handOvers
	grouped    groups
	spread     int // of these, those in which a client had several sessions
	restarts   int // of multi-locks
	unclean    int // ends that a lock-delay has followed

	made, steppedBack int // candidates: the next leader, and by themselves
}

func (n *tally) add(r Report) {
	n.runs++
	n.operations += len(r.History)
	n.calls += r.Calls
	n.grants += r.Grants
	n.lost += r.Lost
	n.struck += min(r.Struck, 1)
	n.failed += min(len(r.Broken), 1)
	n.handedOver.All += r.HandOvers.All
	n.handedOver.Under += r.HandOvers.Under
	n.grouped.add(r.Groups)
	n.spread += r.Spread
	n.restarts += r.Restarts
	n.unclean += r.Unclean
	n.made += r.Made
	n.steppedBack += r.SteppedBack
}

// explore makes random histories of a recipe and checks them. ZKRECIPES_SCHEDULES is
// their number, and ZKRECIPES_SEED the first seed. It ends before the time of go test
// is up.
func explore(t *testing.T, name string, scenario func(*subject, uint64) Scenario) (n tally) {
	t.Helper()
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", seeds/extent.Slowdown())
	began := time.Now()
	for seed := first; seed < first+runs && n.failed < 3; seed++ {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hungAfter {
			t.Logf("no time for more than %d", n.runs)
			break
		}
		s := scenario(subjects[name], uint64(seed))
		report := s.Run(t)
		n.add(report)
		if len(report.Broken) > 0 {
			t.Logf("seed %d: %s", seed, strings.Join(report.Broken, "\n"))
			if flag.Lookup("test.failfast").Value.String() == "true" {
				t.FailNow() // the first failure is enough, as for the test with mutants
			}
			s, report = shrink(t, s, report)
			reportFailure(t, s, report)
		}
	}
	t.Logf("%d histories, %d operations, %d calls, %d grants, %d leases lost, %d holders struck while cut off from the majority, %d slots handed over before the delete, %d of these when the connection broke before its answer, %+v, %d with several sessions of a client, %d multi-locks began again, %d unclean ends, %d made the next leader, %d stepped back, %.0f histories a minute",
		n.runs, n.operations, n.calls, n.grants, n.lost, n.struck, n.handedOver.All, n.handedOver.Under, n.grouped, n.spread, n.restarts, n.unclean, n.made, n.steppedBack, float64(n.runs)/time.Since(began).Minutes())
	require.Positive(t, n.lost, "no fault hit a holder")
	n.requireGroups(t)
	require.True(t, n.spread > n.runs/100 || n.runs < 300 || n.failed > 0, "too few clients had several sessions")
	return n
}

// exploreAlone is explore with scenarios that cut holders off from the majority.
func exploreAlone(t *testing.T, name string) tally {
	t.Helper()
	n := explore(t, name, random)
	require.True(t, n.struck > 0 || n.failed > 0 || n.runs < 100, "no lease was held by a client that was cut off from the majority")
	return n
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
