package histories

import (
	"math/rand/v2"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A die is a source of random programs.
type die struct{ *rand.Rand }

func newDie(seed, purpose uint64) die { return die{rand.New(rand.NewPCG(seed, purpose))} }

// chance is true in that percentage of cases.
func (d die) chance(percent int) bool { return d.IntN(100) < percent }

// upTo returns a random time, at most limit.
func (d die) upTo(limit time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(limit))) + 1
}

// callsPerStep is about the number of calls of a step that faults can strike.
const callsPerStep = 14

// random makes a scenario as a function of its seed. In every third, sessions may be
// ended by force.
func random(s *subject, seed uint64) Scenario {
	d := newDie(seed, 0x686973746f7279)
	clients := 3 + d.IntN(6)
	sc := Scenario{Recipe: s.name, Seed: seed}
	steps := 0
	for c := range clients {
		threads := 1
		if d.chance(20) {
			threads = 2
		}
		for range threads {
			th := Thread{Client: c}
			for range 1 + d.IntN(max(1, 9/clients)) {
				th.Steps = append(th.Steps, d.step(s, nil, threads == 1))
			}
			steps += len(th.Steps)
			sc.Threads = append(sc.Threads, th)
		}
	}
	forced := seed%3 == 0
	actions := []zktest.Action{
		zktest.CutConnection, zktest.CutConnection, zktest.DropReply, zktest.Delay(past), zktest.Mute,
		zktest.Delay(10 * time.Millisecond), zktest.Delay(time.Second), zktest.Delay(conformance.SessionTimeout / 2),
	}
	if forced {
		actions = append(actions, zktest.ExpireSession, zktest.ExpireSession)
	}
	if n := d.IntN(5); n > 0 {
		sc.Faults = zktest.RandomSchedule(seed, n, steps*callsPerStep, actions...)
	}
	for range max(0, d.IntN(6)-2) {
		sc.Troubles = append(sc.Troubles, d.trouble(clients, forced))
	}
	if d.chance(8) {
		sc.Troubles = append(sc.Troubles, Trouble{What: lagging, Client: clientName(d.IntN(clients)), At: 1, For: faultsEnd})
	}
	if d.chance(15) {
		d.isolateHolder(s, &sc, partitioned, stalled)
	}
	// This has its own die, so that the rest of the scenario does not depend on it.
	if split := newDie(seed, 0x73706c6974); split.chance(15) {
		split.isolateHolder(s, &sc, cutOff)
	}
	sc.vary()
	return sc
}

// vary adds what has dice of its own, so that the rest of the scenario does not depend
// on it.
func (s *Scenario) vary() {
	s.releaseAsync()
	s.travelTogether()
	s.spread()
	s.crowd()
}

// crowd has some of a client's contenders stand behind its front. It has its own die.
func (s *Scenario) crowd() {
	if d := newDie(s.Seed, 0x66726f6e74); d.chance(50) {
		s.Front = 1 + d.IntN(2)
	}
}

// releaseAsync has some leases released without waiting for the answer. It has its own
// die.
func (s *Scenario) releaseAsync() {
	d := newDie(s.Seed, 0x6173796e63)
	if !d.chance(60) {
		return
	}
	var choose func(steps []Step)
	choose = func(steps []Step) {
		for i := range steps {
			steps[i].Async = d.chance(50)
			choose(steps[i].Inner)
		}
	}
	for _, th := range s.Threads {
		choose(th.Steps)
	}
}

// isolateHolder cuts a holder off for longer than its session lives, so that the next
// client is granted if the holder relies on its lease for too long.
func (d die) isolateHolder(s *subject, sc *Scenario, kinds ...string) {
	th := &sc.Threads[d.IntN(len(sc.Threads))]
	st := Step{Pause: d.upTo(50 * time.Millisecond), Wait: lease.Forever, Hold: past + d.upTo(4*time.Second)}
	for s.choose(d, &st, nil); st.Do != Acquire; s.choose(d, &st, nil) {
		st.Do, st.Cancel, st.Wait = Acquire, 0, lease.Forever
	}
	st.Hold = max(st.Hold, past)
	th.Steps = append([]Step{st}, th.Steps...)
	sc.Troubles = append(sc.Troubles, Trouble{
		What: kinds[d.IntN(len(kinds))], Client: clientName(th.Client),
		At: d.upTo(time.Second) + 100*time.Millisecond, For: past + d.upTo(2*time.Second),
	})
}

// step makes a step, inside another step if outer is set.
func (d die) step(s *subject, outer *Step, alone bool) Step {
	st := Step{Pause: d.upTo(time.Duration(1+d.IntN(500)) * time.Millisecond)}
	switch d.IntN(10) {
	case 0, 1:
		st.Wait = 0
	case 2:
		st.Wait = d.upTo(60 * time.Millisecond)
	case 3:
		st.Wait = d.upTo(2 * time.Second)
	default:
		st.Wait = lease.Forever
	}
	switch d.IntN(10) {
	case 0:
	case 1:
		st.Hold = d.upTo(4 * time.Second)
	case 2:
		st.Hold = d.upTo(2 * conformance.SessionTimeout)
	default:
		st.Hold = d.upTo(300 * time.Millisecond)
	}
	if d.chance(10) {
		st.Cancel = d.upTo(time.Duration(1+d.IntN(3000)) * time.Millisecond)
	}
	st.Confirm = d.chance(25)
	if outer == nil && alone {
		switch d.IntN(20) {
		case 0:
			st.Quit = d.upTo(time.Duration(1+d.IntN(2000)) * time.Millisecond)
		case 1:
			st.Abandon = true
		}
	}
	s.choose(d, &st, outer)
	if outer != nil {
		st.Early, st.Detached = d.chance(30), d.chance(30)
	}
	if s.nests && st.Do == Acquire && d.chance(20) {
		for range 1 + d.IntN(2) {
			st.Inner = append(st.Inner, d.step(s, &st, false))
		}
	}
	return st
}

// trouble makes a random trouble.
func (d die) trouble(clients int, forced bool) Trouble {
	kinds := []string{partitioned, partitioned, stalled, stalled, refused, lagging, lagging, paused, restarted, dropped}
	if forced {
		kinds = append(kinds, expired, expired, expired)
	}
	tr := Trouble{
		What: kinds[d.IntN(len(kinds))], Client: clientName(d.IntN(clients)),
		At: d.upTo(time.Duration(1+d.IntN(6)) * time.Second), For: d.upTo(time.Duration(1+d.IntN(12)) * time.Second),
	}
	if d.chance(15) && tr.What != lagging && tr.What != expired {
		tr.Client = ""
	}
	return tr
}
