package histories

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A jobPlan is a program for the clients of one job, with faults.
type jobPlan struct {
	Seed       uint64          // orders what happens at the same moment
	Retentions []time.Duration // one for each client
	Threads    []jobThread
	Faults     zktest.Schedule // strike at calls, which have numbers as in faultsweep
	Troubles   []Trouble       // strike at times
	Delay      time.Duration   // the lock-delay; 0 is none
}

// A jobThread does its steps, one after the other, through one client.
type jobThread struct {
	Client int
	Steps  []jobStep
}

// A jobStep tries to have one run recorded.
type jobStep struct {
	Pause  time.Duration // before it
	Key    string        // of the run; "" if it is one of a tick
	Tick   time.Time
	Way    string
	Wait   time.Duration // the timeout of an acquire
	Work   time.Duration // how long the work takes
	Fail   bool          // the work fails
	Also   string        // what is changed with the record
	Cancel time.Duration // after which the context ends; 0 is never
	Quit   time.Duration // after which the client is closed; 0 is never
}

// The ways of a step.
const (
	wayDo      = ""        // by Do
	wayAcquire = "acquire" // by Acquire, Record and Release
	wayLock    = "lock"    // by Acquire and Release: nothing is recorded
)

// What is changed with a record.
const (
	effect  = "effect"  // a node is made
	refusal = "refusal" // an operation that fails, and the record with it
)

// skewed is a trouble: the leader's clock is wrong by For, from At to twice that time.
const skewed = "skew"

func (st jobStep) name() string {
	if st.Key != "" {
		return znode.KeyName(st.Key)
	}
	return znode.TickName(st.Tick)
}

// shortest is the retention that counts.
func (p jobPlan) shortest() time.Duration { return slices.Min(p.Retentions) }

// duration is about how long the plan takes without faults.
func (p jobPlan) duration() (longest time.Duration) {
	for _, th := range p.Threads {
		var d time.Duration
		for _, st := range th.Steps {
			d += st.Pause + st.Work + p.Delay
		}
		longest = max(longest, d)
	}
	return longest
}

// bubblesBegin is when virtual time begins.
var bubblesBegin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// callsPerRun is about the number of calls of a step that faults can strike.
const callsPerRun = 30

// randomJob makes a plan as a function of its seed. In every third, sessions may be
// ended by force.
func randomJob(seed uint64) jobPlan {
	d := newDie(seed, 0x6a6f62)
	p := jobPlan{Seed: seed}
	steps := 0
	for c := range 2 + d.IntN(3) {
		p.Retentions = append(p.Retentions, []time.Duration{time.Minute, time.Minute, 2 * time.Minute}[d.IntN(3)])
		threads := 1 + d.IntN(5)/4
		for range threads {
			th := jobThread{Client: c}
			at := time.Duration(0)
			for range 2 + d.IntN(6) {
				st := d.jobStep(at, threads == 1)
				at += st.Pause + st.Work
				th.Steps = append(th.Steps, st)
			}
			steps += len(th.Steps)
			p.Threads = append(p.Threads, th)
		}
	}
	actions := []zktest.Action{
		zktest.CutConnection, zktest.CutConnection, zktest.DropReply, zktest.Delay(past), zktest.Mute,
		zktest.Delay(10 * time.Millisecond), zktest.Delay(time.Second), zktest.Delay(conformance.SessionTimeout / 2),
	}
	forced := seed%3 == 0
	if forced {
		actions = append(actions, zktest.ExpireSession, zktest.ExpireSession)
	}
	if n := d.IntN(12); n > 0 {
		p.Faults = zktest.RandomSchedule(seed, n, steps*callsPerRun, actions...)
	}
	for range max(0, d.IntN(6)-2) {
		tr := d.trouble(len(p.Retentions), forced)
		tr.At = d.upTo(p.duration())
		p.Troubles = append(p.Troubles, tr)
	}
	if d.chance(30) {
		p.Troubles = append(p.Troubles, Trouble{What: skewed, At: d.upTo(p.duration() / 2), For: d.upTo(4*time.Minute) - 2*time.Minute})
	}
	if d.chance(15) {
		p.Troubles = append(p.Troubles, Trouble{What: cutOff, Client: clientName(d.IntN(len(p.Retentions))), At: d.upTo(p.duration()), For: past})
	}
	if d.chance(15) {
		p.Troubles = append(p.Troubles, Trouble{What: operated, At: d.upTo(p.duration()), For: d.upTo(time.Minute)})
	}
	return p
}

// jobStep makes a step that begins about at that time.
func (d die) jobStep(at time.Duration, alone bool) jobStep {
	st := jobStep{Pause: d.upTo(time.Second), Wait: lease.Forever}
	if d.chance(50) {
		st.Pause = d.upTo(50 * time.Second)
	}
	if d.chance(50) {
		st.Key = []string{"a", "b/c", strings.Repeat("long", 30)}[d.IntN(3)]
	} else {
		const every = 20 // seconds
		now := int((at + st.Pause).Seconds()) / every
		st.Tick = bubblesBegin.Add(time.Duration(every*(now+2-d.IntN(3)*d.IntN(4))) * time.Second)
	}
	switch d.IntN(6) {
	case 0:
		st.Way, st.Wait = wayAcquire, []time.Duration{0, d.upTo(2 * time.Second), lease.Forever}[d.IntN(3)]
	case 1:
		st.Way, st.Wait = wayLock, []time.Duration{0, d.upTo(2 * time.Second), lease.Forever}[d.IntN(3)]
	}
	switch d.IntN(8) {
	case 0:
		st.Work = d.upTo(15 * time.Second)
	case 1:
		st.Work = d.upTo(90 * time.Second)
	case 2, 3:
	default:
		st.Work = d.upTo(300 * time.Millisecond)
	}
	st.Fail = d.chance(15)
	st.Also = []string{"", "", effect, effect, effect, refusal}[d.IntN(6)]
	if d.chance(10) {
		st.Cancel = d.upTo(time.Duration(1+d.IntN(3000)) * time.Millisecond)
	}
	if alone && d.chance(8) {
		st.Quit = d.upTo(time.Duration(1+d.IntN(2000)) * time.Millisecond)
	}
	return st
}

// TestJobs checks random histories of jobs.
func TestJobs(t *testing.T) { exploreJobs(t, seeds, randomJob) }

// TestJobsWithALockDelay does the same with jobs that have a lock-delay.
func TestJobsWithALockDelay(t *testing.T) {
	unclean := exploreJobs(t, seeds/4, func(seed uint64) jobPlan {
		p := randomJob(seed)
		p.Delay = delays[newDie(seed, 0x64656c6179).IntN(len(delays))]
		return p
	})
	require.Positive(t, unclean, "no end was unclean")
}

func exploreJobs(t *testing.T, number int, random func(seed uint64) jobPlan) (unclean int) {
	t.Helper()
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", number/extent.Slowdown())
	began := time.Now()
	failed, begun, records, again, removed := 0, 0, 0, 0, 0
	for seed := first; seed < first+runs && failed < 3; seed++ {
		r := random(uint64(seed)).run(t)
		if r.delays != nil {
			unclean += r.delays.Unclean()
		}
		begun += r.begun
		names := map[string]bool{}
		for _, m := range r.judge.all {
			records++
			if names[m.name] {
				again++
			}
			if names[m.name] = true; m.gone && !m.freed {
				removed++
			}
		}
		if len(r.broken) > 0 {
			failed++
			t.Errorf("seed %d: %s\nto repeat it: %#v\nend of the trace:\n%s", seed, strings.Join(r.broken, "\n"), r.plan, ending(r.server.Trace()))
		}
	}
	t.Logf("%d unclean ends, %d runs begun, %d records, %d of these of a key again, %d removed, %s", unclean, begun, records, again, removed, fmt.Sprintf("%.0f histories a minute", float64(runs)/time.Since(began).Minutes()))
	require.True(t, failed > 0 || runs < 100 || begun > records && again > 0 && removed > again, "too little happens")
	return unclean
}
