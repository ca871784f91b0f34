package histories

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestLockDelay makes random histories with a lock-delay, TestMinHold with a minimum
// hold time. Some have both.
func TestLockDelay(t *testing.T) {
	for _, name := range []string{"mutex", "rwlock", "single queue", "leader", "stripes", "multi-lock"} {
		t.Run(name, func(t *testing.T) {
			n := explore(t, name, delayed)
			require.True(t, n.unclean > n.runs/10 || n.runs < 50, "too few ends were unclean")
		})
	}
}

func TestMinHold(t *testing.T) {
	for _, name := range []string{"mutex", "rwlock", "semaphore", "single queue", "leader", "stripes"} {
		t.Run(name, func(t *testing.T) { explore(t, name, resting) })
	}
}

// delays are those of scenarios: shorter than what else takes time, and longer.
var delays = []time.Duration{7 * time.Millisecond, 600 * time.Millisecond, 2300 * time.Millisecond, 9100 * time.Millisecond}

// delayed makes a scenario with a lock-delay as a function of its seed.
func delayed(s *subject, seed uint64) Scenario {
	sc := handingOver(s, seed)
	d := newDie(seed, 0x64656c6179)
	if d.chance(70) {
		sc = random(s, seed)
	}
	sc.Delay = delays[d.IntN(len(delays))]
	// That of a lock begins when it is granted, which may be long before a multi-lock
	// is.
	if d.chance(20) && sc.MaxHold == 0 && s.name != "multi-lock" {
		sc.MinHold = d.upTo(time.Second)
	}
	return sc.unresized()
}

// resting makes a scenario with a minimum hold time as a function of its seed. If a
// lease may have several nodes, no operator deletes some of them.
func resting(s *subject, seed uint64) Scenario {
	sc := handingOver(s, seed)
	d := newDie(seed, 0x72657374)
	if d.chance(70) || s.name == "semaphore" {
		sc = random(s, seed)
	}
	if sc.MaxHold == 0 {
		sc.MinHold = d.upTo(time.Duration(1+d.IntN(2000)) * time.Millisecond)
	}
	return sc.unresized()
}

// unresized has no step change the size of a semaphore, which counts beside the delay.
func (s Scenario) unresized() Scenario {
	for _, th := range s.Threads {
		for i := range th.Steps {
			if th.Steps[i].Do == Resize {
				th.Steps[i].Do, th.Steps[i].N = Look, 0
			}
		}
	}
	return s
}

// closedTime is the longest time in which locks are closed, or held on after their
// release.
func (s Scenario) closedTime() (d time.Duration) {
	var add func(steps []Step)
	add = func(steps []Step) {
		for _, st := range steps {
			d += s.Delay + s.MinHold
			add(st.Inner)
		}
	}
	for _, th := range s.Threads {
		add(th.Steps)
	}
	return d
}

// followDelays has the run follow leases and their records, if the scenario needs that.
func (r *run) followDelays() {
	if r.scenario.Delay > 0 || r.scenario.MinHold > 0 {
		r.delays = &conformance.Delays{Server: r.server, LockDelay: r.scenario.Delay, MinHold: r.scenario.MinHold, Excuse: r.mayBeOver}
	}
}

// mayBeOver tells whether a lease may be over without knowing it: its session or its
// node was ended by force.
func (r *run) mayBeOver(l *lease.Lease) bool { return r.anyExpired() || r.isEvicted(l.Path()) }

// lines are the paths of the queues.
func (r *run) lines() (all []string) {
	for _, line := range r.subject.queues {
		all = append(all, path+line)
	}
	return all
}

func (r *run) observe(c zktest.Call) {
	if r.delays != nil && c.Op != zktest.OpPing {
		r.delays.Observe(c, r.lines()...)
	}
}

func (r *run) releasing(t *tenure) {
	if r.delays == nil {
		return
	}
	for _, s := range t.op.Slots {
		r.delays.Releasing(s.lease)
	}
}

// quitting is called when a station is closed in the middle of its steps.
func (r *run) quitting(st *station) {
	if r.delays != nil {
		r.delays.Quitting(st.client.Session().ID())
	}
}

func (r *run) closing(st *station) {
	if r.delays != nil && !st.isClosed() {
		r.delays.Closing(st.client.Session().ID(), past)
	}
}

// checkClosed checks that no slot of a lease that was granted just now was closed, nor
// on hold after a release.
func (th *thread) checkClosed(o op) {
	if th.delays == nil {
		return
	}
	for _, s := range o.Slots {
		th.delays.Granted(s.lease)
		th.checkSlotClosed(s)
	}
}

func (th *thread) checkSlotClosed(s *slot) {
	th.mu.Lock()
	var others []*slot
	leases := map[*slot]int{}
	for _, t := range th.tenures {
		for _, other := range t.op.Slots {
			if other.lock == s.lock {
				others, leases[other] = append(others, other), t.op.Lease
			}
		}
	}
	_, forced := th.forcedLocked(s)
	th.mu.Unlock()
	if forced || slices.ContainsFunc(others, func(other *slot) bool { return other.token == s.token }) {
		return // it may be over, or was granted before
	}
	taken := s.n
	for _, other := range others {
		lingers := th.delays.Lingers(other.lease) && (th.scenario.Delay > 0 || !th.mayBeOver(other.lease))
		if th.subject.excludes != nil && lingers && th.subject.excludes(other, s) {
			th.brokenf("I7: thread %d was granted token %d while the slot of lease %d was closed", th.number, s.token, leases[other])
		}
		if lingers || other.lease.Err() == nil && !th.mayBeOver(other.lease) {
			taken += other.n
		}
	}
	if th.subject.excludes == nil && taken > th.subject.size {
		th.brokenf("I7: thread %d was granted %d permits, and %d are taken or closed", th.number, s.n, taken)
	}
}

// checkDelays checks what has followed from ends.
func (r *run) checkDelays() {
	if r.delays == nil {
		return
	}
	r.delays.CheckLeft(r.lines()...)
	for _, wrong := range r.delays.Faults() {
		r.brokenf("I7: %s", wrong)
	}
}
