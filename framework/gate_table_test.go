package framework

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fakeLink is a connection on which a request to set watches may be under way.
type fakeLink struct{ setting bool }

func (l *fakeLink) HoldBack(bool)        {}
func (l *fakeLink) SendHeld()            {}
func (l *fakeLink) SettingWatches() bool { return l.setting }

// A gateWalk leads a gate through what may happen to a session, and knows without a
// table where it must stand.
type gateWalk struct {
	*rand.Rand
	gate          *gate
	bytes         int
	opens, closes int

	ready, over, watching bool
	live                  *fakeLink // nil without a connection
	told                  bool      // the gate knows of it
	usable                bool      // and may let requests through
	passed                bool      // nothing is to be waited for on it
	releasing             bool
	pending               []*fakeLink // what was held back on these is being sent
}

func (w *gateWalk) link() gateLink {
	if w.live == nil || w.over {
		return nil
	}
	return w.live
}
func (w *gateWalk) watchBytes() int { return w.bytes }
func (w *gateWalk) opened()         { w.opens++ }
func (w *gateWalk) shut(error)      { w.closes++ }
func (w *gateWalk) wake()           {}

func (w *gateWalk) want() gateState {
	switch {
	case w.over:
		return gateOver
	case !w.ready:
		return gateUnready
	case !w.usable:
		return gateClosed
	case w.passed:
		return gateOpen
	case w.releasing:
		return gateReleasing
	}
	return gateRestoring
}

func (w *gateWalk) present() {
	w.gate.handle(gatePresented)
	if !w.ready {
		w.ready, w.usable, w.passed = true, w.live != nil, w.live != nil
	}
}

func (w *gateWalk) attach() {
	w.bytes = w.IntN(2) * onePacket
	w.gate.attached()
	if w.live == nil || w.over || !w.ready {
		return
	}
	w.told, w.usable, w.releasing = true, true, false
	w.passed = !w.watching
}

func (w *gateWalk) answer() {
	w.gate.watchesSet(w.IntN(2) == 0)
	if w.want() == gateRestoring && w.bytes < onePacket && w.link() != nil {
		w.passed = true
	}
}

func (w *gateWalk) check(late bool) {
	restoring := w.want() == gateRestoring && w.link() != nil
	now := w.gate.due
	if !late {
		now = now.Add(-1)
	}
	if w.live != nil {
		w.live.setting = w.IntN(2) == 0
	}
	_, c, _ := w.gate.check(now)
	if restoring && late && !w.live.setting {
		w.releasing = true
	}
	if c != nil {
		w.pending = append(w.pending, c.(*fakeLink))
	}
}

func (w *gateWalk) release() {
	if w.live != nil && w.IntN(4) == 0 { // without a request
		w.pending = append(w.pending, w.live)
	}
	if len(w.pending) == 0 {
		return
	}
	c := w.pending[0]
	w.pending = w.pending[1:]
	w.gate.released(c, w.IntN(2) == 0)
	w.passed = w.passed || w.releasing && c == w.live
}

// lose breaks the connection, which the gate gets a little later.
func (w *gateWalk) lose() {
	w.live = nil
	before := w.opens
	[]func(){func() {}, w.present, w.answer, func() { w.check(true) }, w.release, w.attach}[w.IntN(6)]()
	if w.opens > before {
		panic("opened without a connection")
	}
	w.gate.broke(io.EOF)
	w.told, w.usable, w.passed, w.releasing = false, false, false, false
}

// step does one thing that may happen.
func (w *gateWalk) step() {
	switch n := w.IntN(40); {
	case n < 6 && w.live == nil:
		w.live, w.told = new(fakeLink), false
	case n < 12 && (!w.told || w.live == nil):
		w.attach()
	case n < 13 && w.told && w.ready: // the gate does not rely on the event for the end of the one before
		w.live = new(fakeLink)
		w.attach()
	case n < 17:
		w.answer()
	case n < 23:
		w.check(n < 21)
	case n < 27:
		w.release()
	case n < 30 && w.live != nil:
		w.lose()
	case n < 31 && !w.usable:
		w.gate.broke(io.EOF)
	case n < 33:
		w.gate.handle(gateDue)
		w.releasing = w.releasing || w.want() == gateRestoring
	case n < 36 && w.want() == gateOpen:
		w.gate.expectWatches()
		w.watching = true
	case n < 38:
		w.present()
	case n == 38 && w.IntN(4) == 0:
		w.over = true
		w.gate.handle(gateEnded)
	}
}

// walkGate returns where the gate first stands wrong, if it does.
func walkGate(table *gateTable, seed uint64) error {
	w := &gateWalk{Rand: rand.New(rand.NewPCG(seed, 1))}
	w.gate = newGate(w)
	w.gate.table = table
	for i := range 200 {
		w.step()
		if got, want := w.gate.state, w.want(); got != want {
			return fmt.Errorf("seed %d, step %d: %d instead of %d", seed, i, got, want)
		}
		up, down := w.gate.signals()
		open := w.gate.isOpen()
		if up.Given() != open || down.Given() == open || open && w.opens == 0 {
			return fmt.Errorf("seed %d, step %d: who waits is not told", seed, i)
		}
	}
	return nil
}

// A gate is open only while the credentials were presented, there is a connection, the
// watches on it need not be waited for, and the session is not over; and always then.
func TestGateStandsWhereItShould(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		require.NoError(t, walkGate(&gateTransitions, seed))
	}
}

// With any other entry in the table it does not.
func TestEachEntryInTheTableOfTheGateCounts(t *testing.T) {
	t.Parallel()
	asked := func(state gateState, event gateEvent) bool {
		switch event {
		case gateAttached: // without a watch nothing is restored
			return state != gateOver && state != gateRestoring && state != gateReleasing
		case gateReleased:
			return state != gateOver // there is no connection
		case gateReattached:
			return state != gateOver && state != gateUnready // there can be no watch
		case gateAnswered:
			return state != gateUnready
		}
		return true
	}
	for state := gateUnready; state <= gateOver; state++ {
		for event := range gateEvents {
			right := gateTransitions[state][event]
			for wrong := range gateOver + 1 {
				stays := (right == 0 || right == state) && (wrong == 0 || wrong == state)
				if wrong == right || stays || !asked(state, event) {
					continue
				}
				if right == gateClosed && wrong == gateOpen {
					continue // without a connection it does not open, whatever the table says
				}
				table := gateTransitions
				table[state][event] = wrong
				var found error
				for seed := uint64(0); seed < 3000 && found == nil; seed++ {
					found = walkGate(&table, seed)
				}
				require.Error(t, found, "state %d, event %d, to %d", state, event, wrong)
			}
		}
	}
}
