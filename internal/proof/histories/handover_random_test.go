package histories

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A slot that is released is handed over to the next position of the same session
// before the delete is answered; permits are not. So these histories have several
// threads in each client, which hold for a short time, write when they are granted and
// about when they release, and whose connections break at deletes. To run them for half
// an hour:
//
//	ZKRECIPES_SEED=100001 ZKRECIPES_SCHEDULES=10000000 go test -timeout 30m -v \
//		-run 'TestHandOver/mutex' ./internal/proof/histories
func TestHandOver(t *testing.T) {
	for _, name := range []string{"mutex", "rwlock", "single queue", "leader", "multi-lock", "stripes", "resized stripes"} {
		t.Run(name, func(t *testing.T) {
			n := explore(t, name, handingOver)
			if name == "single queue" {
				require.Zero(t, n.handedOver.All, "their number may have changed unseen")
				return
			}
			require.True(t, n.handedOver.All > n.runs || n.runs < 50, "too few slots were handed over")
			require.True(t, n.handedOver.Under > n.runs/20 || n.runs < 50, "too few connections broke at a hand-over")
		})
	}
}

// handingOver makes such a scenario as a function of its seed.
func handingOver(s *subject, seed uint64) Scenario {
	d := newDie(seed, 0x68616e64)
	sc := Scenario{Recipe: s.name, Seed: seed}
	clients, steps := 1+d.IntN(3), 0
	for c := range clients {
		for range max(2-c, 1) + d.IntN(3) {
			th := Thread{Client: c}
			for range 2 + d.IntN(4) {
				th.Steps = append(th.Steps, d.shortStep(s, clients, nil))
			}
			steps += len(th.Steps)
			sc.Threads = append(sc.Threads, th)
		}
	}
	if d.chance(15) {
		sc.MaxHold = 5*time.Millisecond + d.upTo(20*time.Millisecond)
	}
	if n := d.IntN(6); n > 0 {
		sc.Deletes = zktest.RandomSchedule(seed, n, 2*steps,
			zktest.CutConnection, zktest.CutConnection, zktest.CutConnection, zktest.DropReply, zktest.Mute,
			zktest.Delay(10*time.Millisecond), zktest.Delay(time.Second), zktest.Delay(conformance.SessionTimeout/2), zktest.Delay(past))
	}
	if d.chance(30) {
		sc.Faults = zktest.RandomSchedule(seed, 1+d.IntN(3), steps*callsPerStep,
			zktest.CutConnection, zktest.DropReply, zktest.Mute, zktest.Delay(10*time.Millisecond), zktest.Delay(time.Second))
	}
	d.strike(&sc, clients)
	sc.vary()
	return sc
}

// strike adds troubles.
func (d die) strike(sc *Scenario, clients int) {
	add := func(kind string, length time.Duration) {
		sc.Troubles = append(sc.Troubles, Trouble{
			What: kind, Client: clientName(d.IntN(clients)), At: d.upTo(200 * time.Millisecond), For: d.upTo(length),
		})
	}
	for range max(0, d.IntN(5)-1) {
		add(dropped, time.Millisecond)
	}
	switch d.IntN(10) {
	case 0:
		add(partitioned, 9*time.Second)
	case 1:
		add(stalled, 9*time.Second)
	case 2:
		add(lagging, 3*time.Second)
	case 3:
		add(expired, time.Millisecond)
	case 4, 5, 6, 7:
		add(operated, time.Second)
	}
}

// shortStep makes a step with a short hold.
func (d die) shortStep(s *subject, clients int, outer *Step) Step {
	st := Step{Wait: lease.Forever, Hold: d.upTo(10 * time.Millisecond), Confirm: d.chance(15), Write: d.chance(60)}
	switch d.IntN(10) {
	case 0:
		st.Pause = d.upTo(100 * time.Millisecond)
	case 1, 2, 3:
		st.Pause = d.upTo(3 * time.Millisecond)
	}
	switch d.IntN(20) {
	case 0:
		st.Wait = 0
	case 1, 2:
		st.Wait = d.upTo(60 * time.Millisecond)
	case 3, 4, 7:
		st.Cancel = d.upTo(40 * time.Millisecond)
	case 5:
		st.Hold = d.upTo(time.Second)
	case 6:
		st.Hold = 0
	}
	if d.chance(35) {
		st.Late = []string{lateCheck, lateCheckOp, lateCheckOp, lateElsewhere, lateElsewhere, lateOtherCheck}[d.IntN(6)]
		if clients == 1 && st.Late != lateCheck {
			st.Late = lateCheckOp
		}
		st.LateBy = []time.Duration{0, 0, -1, -d.upTo(time.Millisecond), d.upTo(time.Millisecond), d.upTo(300 * time.Millisecond)}[d.IntN(6)]
	}
	s.choose(d, &st, outer)
	if st.Do == Campaign || st.Do == Observing {
		st.Do, st.Wait = Acquire, lease.Forever
	}
	d.nest(s, clients, &st, outer)
	return st
}

// nest has a writer become a reader, and others re-enter.
func (d die) nest(s *subject, clients int, st, outer *Step) {
	percent := 10
	if st.Side == write {
		percent = 40
	}
	if outer != nil || !s.nests || st.Do != Acquire || !d.chance(percent) {
		return
	}
	inner := d.shortStep(s, clients, st)
	if st.Side == write {
		inner.Side, inner.Early, inner.Detached = read, d.chance(70), d.chance(50)
	}
	st.Inner = append(st.Inner, inner)
}
