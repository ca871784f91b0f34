package framework

import (
	"context"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// The gate of a session is open while requests may be sent: from when the watches were
// set again, on the connection that is attached, until that breaks. Its states are in
// gate_states.go.
type gate struct {
	session gateSession
	table   *gateTable
	first   *signal.Signal // given at the first attachment

	mu         sync.Mutex
	state      gateState
	up, down   *signal.Signal // given while it is open, and while it is not; replaced when that ends
	watching   bool           // a watch was requested in this session
	firstWatch time.Time      // when the library has checked, since it attached, which watches to set again
	unsent     int            // requests to set watches that the library may still have in its queue

	// Of the newest attachment on which watches may have to be set again.
	due       time.Time // when the library has had time to send the next request for that
	onePacket bool      // one request is enough
	restored  bool      // the newest request was answered, and not refused
	early     bool      // the gate was opened before all of several were answered
}

// gateSession is what a gate calls, under its lock.
type gateSession interface {
	link() gateLink   // nil if there is no connection, or the session is over
	watchBytes() int  // the size of the paths of all watches
	opened()          // requests are let through
	shut(cause error) // they are not any more, because the connection broke
	wake()            // something is due sooner than it was
}

// A gateLink is a connection that requests are sent over.
type gateLink interface {
	HoldBack(all bool)
	SettingWatches() bool
	SendHeld()
}

func newGate(s gateSession) *gate {
	g := &gate{session: s, table: &gateTransitions, first: signal.New(), state: gateUnready, up: signal.New(), down: signal.New()}
	g.down.Give()
	return g
}

// move carries out what the table says, and returns the state of the gate then. The
// caller has the lock.
func (g *gate) move(event gateEvent) gateState {
	from, to := g.state, g.table[g.state][event]
	if to == gateOpen && g.session.link() == nil {
		to = gateClosed // the event for that comes next
	}
	if to == 0 || to == from {
		return from
	}
	g.state = to
	switch {
	case to == gateOpen:
		g.unsent, g.down = 0, signal.New()
		g.up.Give()
		g.session.opened()
	case from == gateOpen:
		g.up = signal.New()
		g.down.Give()
	}
	return to
}

// handle is move for events that need nothing else.
func (g *gate) handle(event gateEvent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.move(event)
}

// isOpen reports whether requests may be sent now.
func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state == gateOpen
}

// signals returns one that is given while the gate is open, and one while it is not.
func (g *gate) signals() (up, down *signal.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.up, g.down
}

// attached is called when the library may send requests. They are let through at once,
// unless watches may have to be set again: then only when the server has answered that,
// so that no read shows a change before the event for it. Requests that are in the
// library's queue already are held back until that request is sent: the library reads
// the last zxid for it without a lock, and too late if an answer comes first.
func (g *gate) attached() {
	g.mu.Lock()
	defer g.mu.Unlock()
	stale := g.unsent > 0
	g.early = false
	if g.watching {
		g.unsent++ // also if the connection is gone: the library has not noticed
	}
	c := g.session.link()
	if c == nil {
		return
	}
	g.first.Give()
	switch {
	case !g.watching:
		g.firstWatch = time.Now().Add(watchGrace)
		g.move(gateAttached)
	case g.move(gateReattached) == gateRestoring:
		// A connection that ended too soon has left its request in the queue. That is
		// sent first now, perhaps while the library reads the zxid for the next.
		c.HoldBack(stale)
		g.onePacket, g.restored = g.session.watchBytes() < onePacket, false
		g.due = time.Now().Add(watchGrace)
		g.session.wake()
	}
}

// watchGrace is how long to wait until the library starts to set watches again. It has
// none to set if all have fired; that cannot be asked.
const watchGrace = 20 * time.Millisecond

// onePacket bounds the size of the paths on which the library sets watches in one
// request; it splits at 128 KiB.
const onePacket = 100 << 10

// broke is called when the connection is gone.
func (g *gate) broke(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wasOpen := g.state == gateOpen
	if (!wasOpen || g.early) && g.watching && !g.onePacket {
		g.unsent = max(g.unsent, 1) // the second of several
	}
	if g.move(gateBroke); wasOpen {
		g.session.shut(cause)
	}
}

// expectWatches makes the next attachment wait until watches are set again. It returns
// how long the first watch has to wait: until the library has found, after attaching,
// that it has none to set. Else it would read the last zxid without a lock for that
// one.
func (g *gate) expectWatches() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watching = true
	return time.Until(g.firstWatch)
}

// settingWatches is called when the library has sent a request to set watches again.
func (g *gate) settingWatches() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsent = max(g.unsent-1, 0)
}

// watchesSet is called when that was answered.
func (g *gate) watchesSet(ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.restored = ok
	if g.onePacket {
		g.move(gateAnswered)
	} else { // there may be more packets; the library sends one after the other
		g.due = time.Now().Add(watchGrace)
	}
}

// check finds that the library has had time to start to set watches again, and has not,
// or is done. Then it returns the connection over which to send what was held back, and
// whether watches were set; released is called after that. It also returns the time
// until it should be called again.
func (g *gate) check(now time.Time) (again time.Duration, c gateLink, restored bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != gateRestoring {
		return time.Hour, nil, false
	}
	switch c = g.session.link(); {
	case now.Before(g.due):
		return g.due.Sub(now), nil, false
	case c == nil: // the next attachment starts again
		g.move(gateBroke)
		return time.Hour, nil, false
	case c.SettingWatches():
		return watchGrace, nil, false
	}
	g.move(gateDue)
	return time.Hour, c, g.restored
}

// released is called when what was held back was sent over a connection. There may be
// another by then.
func (g *gate) released(c gateLink, restored bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.session.link() == c {
		g.early = !restored && !g.onePacket
		g.move(gateReleased)
	}
}

// The session's side of its gate.

func (s *Session) link() gateLink {
	if c := s.guard.Live(); c != nil && context.Cause(s.ctx) == nil {
		return c
	}
	return nil
}

func (s *Session) watchBytes() int { return s.watch.bytes() }

func (s *Session) opened() {
	s.guard.Ready()
	s.became(Connected, nil)
	s.wake() // supervise sends something on each connection
}

func (s *Session) shut(cause error) {
	if context.Cause(s.ctx) == nil {
		s.became(Suspended, cause)
	}
}

// checkGate opens the gate if it is time to. It returns the time until the next check.
func (s *Session) checkGate(now time.Time) time.Duration {
	again, c, restored := s.gate.check(now)
	if c != nil {
		s.tasks.start(func() { s.release(c, restored) }) // it writes, which may block
	}
	return again
}

// release sends what was held back on a connection, and lets requests through.
func (s *Session) release(c gateLink, restored bool) {
	c.SendHeld()
	if !restored {
		// The library has dropped its request to set watches, or had none to make. All
		// who wait must read again.
		s.watch.fireAll(Event{Type: EventRecheck})
	}
	s.gate.released(c, restored)
}
