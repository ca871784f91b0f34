package faultsweep

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestLeanFaults runs random plans. ZKRECIPES_SCHEDULES is how many, and ZKRECIPES_SEED
// the first seed.
func TestLeanFaults(t *testing.T) {
	const size = 500 // of a shard
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", 5000/extent.Slowdown())
	began := time.Now()
	var all tally
	var used time.Duration
	for all.plans < runs && !t.Failed() {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 2*hungAfter {
			t.Logf("no time for more than %d", all.plans)
			break
		}
		found, took := shard{first + all.plans, min(size, runs-all.plans)}.start(t)
		all.plans += found.plans
		all.grants += found.grants
		all.lost += found.lost
		all.struck += found.struck
		used += took
	}
	plans := float64(all.plans)
	t.Logf("%+v, %.0f plans a minute; %.0f plans a minute of processor time, %.0f a second",
		all, plans/time.Since(began).Minutes(), plans/used.Minutes(), plans/used.Seconds())
	require.Positive(t, all.lost, "no fault hit a holder")
	require.True(t, all.struck > 0 || all.plans < 100, "no split hit a holder")
}

// A shard is a number of plans that run in one process. Each session begins with a
// buffer of 1.5 MiB that the library makes and our code does not use. In memory that a
// process has never used it costs nothing. In memory from the garbage collector it has
// to be cleared, which takes half of the time of a lean plan. So these processes are
// short, and run without a collector.
type shard struct {
	first, runs int
}

// shardVariable is the environment variable that tells TestShard its shard.
const shardVariable = "ZKRECIPES_SHARD"

// A tally is the result of some plans.
type tally struct {
	plans, grants, lost int
	struck              int // plans whose split hit a holder
}

// The text forms of shards and tallies between processes.
const (
	shardForm = "%d %d"
	tallyForm = "tally %d %d %d %d"
)

// start runs a shard in a process and returns its result and its processor time. If a
// plan fails, the test fails.
func (s shard) start(t *testing.T) (found tally, used time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShard$", "-test.count=1")
	cmd.Env = append(os.Environ(), shardVariable+"="+fmt.Sprintf(shardForm, s.first, s.runs))
	output, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(output)) {
		_, _ = fmt.Sscanf(line, tallyForm, &found.plans, &found.grants, &found.lost, &found.struck)
	}
	if err != nil || found.plans == 0 {
		t.Errorf("%v: %v\n%s", s, err, output)
	}
	return found, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// TestShard runs a shard, in a process that another test has started.
func TestShard(t *testing.T) {
	text, ok := os.LookupEnv(shardVariable)
	if !ok {
		return
	}
	var s shard
	_, err := fmt.Sscanf(text, shardForm, &s.first, &s.runs)
	require.NoError(t, err)
	var all tally
	for failed := 0; all.plans < s.runs && failed < 3; all.plans++ {
		seed := s.first + all.plans
		p := RandomLean(recipeFor(seed), uint64(seed))
		report := p.Run(t)
		all.grants += report.Grants
		all.lost += report.Lost
		if len(report.Struck) > 0 {
			all.struck++
		}
		if len(report.Broken) > 0 {
			failed++
			p, report = shrink(t, p, report)
			fail(t, p, report)
		}
	}
	fmt.Printf(tallyForm+"\n", all.plans, all.grants, all.lost, all.struck)
}

func recipeFor(seed int) conformance.Recipe {
	switch seed % 8 {
	case 0:
		return aBriefMutex
	case 4:
		return anAsyncMutex
	}
	return aMutex
}

// shrink searches for a smaller plan that fails as well, and returns it with its
// report.
func shrink(t *testing.T, p Plan, r Report) (Plan, Report) {
	t.Helper()
	p.Faults = p.Faults.Shrink(func(faults zktest.Schedule) bool {
		tried := p
		tried.Faults = faults
		report := tried.Run(t)
		if len(report.Broken) > 0 {
			r = report
			return true
		}
		return false
	})
	return p, r
}
