package framework

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// State is what the client knows of its present session.
type State int

// The states of a Client; the package documentation shows the transitions.
const (
	// Connecting means that the first session does not exist yet.
	Connecting State = iota
	// Connected means that the session is attached to a server.
	Connected
	// Suspended means that no server answers; the session may still live.
	Suspended
	// Lost means that the client does not use the session any more. Another follows.
	Lost
	// Closed means that Close was called. It is the last state.
	Closed
)

// String returns the state's name.
func (s State) String() string {
	return nameOf(s, "state", "connecting", "connected", "suspended", "lost", "closed")
}

// nameOf returns the name of one of the values that a type has, the first of which is
// 0.
func nameOf[T ~int](value T, what string, names ...string) string {
	if value < 0 || int(value) >= len(names) {
		return "invalid " + what
	}
	return names[value]
}

// A StateChange is one transition of a Client.
type StateChange struct {
	// State is the state entered.
	State State
	// Session is the id of the session it is about, 0 if there is none.
	Session int64
	// At is when it was entered.
	At time.Time
	// Err is why, for Suspended and Lost; nil otherwise.
	Err error
}

// timeline is the list of all transitions from some time on. It is a linked list whose
// last element has a channel that closes when the next element exists. So a reader can
// be slow: it blocks no other goroutine and misses nothing, and elements that no reader
// holds any more are garbage.
type timeline struct {
	mu   sync.Mutex
	last *transition
}

type transition struct {
	change StateChange
	ready  chan struct{} // closed when next is set
	next   *transition
}

func newTimeline() *timeline {
	return &timeline{last: &transition{change: StateChange{State: Connecting, At: time.Now()}, ready: make(chan struct{})}}
}

// add appends a transition if it is legal. Reports about an older session, or of a
// suspension that comes after the loss, are thus ignored.
func (t *timeline) add(change StateChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !legal(t.last.change, change) {
		return
	}
	next := &transition{change: change, ready: make(chan struct{})}
	t.last.next = next
	close(t.last.ready)
	t.last = next
}

// legal holds the transitions drawn in the package documentation.
func legal(from, to StateChange) bool {
	same := from.Session == to.Session
	switch to.State {
	case Connected:
		return from.State == Connecting || from.State == Suspended && same || from.State == Lost && !same
	case Suspended:
		return from.State == Connected && same
	case Lost:
		return (from.State == Connected || from.State == Suspended) && same
	case Closed:
		return from.State != Closed
	}
	return false
}

func (t *timeline) present() *transition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// States returns the client's states as they happen, beginning with the present one.
// The sequence never skips a transition and never delays the client, however slow the
// reader is. It ends after Closed, or when ctx ends.
func (c *Client) States(ctx context.Context) iter.Seq[StateChange] {
	c.mustBeUsable()
	start := c.core.states.present()
	return func(yield func(StateChange) bool) {
		for m := start; ; m = m.next {
			if !yield(m.change) || m.change.State == Closed {
				return
			}
			select {
			case <-m.ready:
			case <-ctx.Done():
				return
			}
		}
	}
}

// State returns the present state.
func (c *Client) State() State {
	c.mustBeUsable()
	return c.core.states.present().change.State
}

// became records the state in which the session is.
func (s *Session) became(state State, err error) {
	s.core.states.add(StateChange{State: state, Session: s.ID(), At: time.Now(), Err: err})
}

// report passes state changes to the log and the observer.
func (c *core) report(changes iter.Seq[StateChange]) {
	for change := range changes {
		attrs := []any{"state", change.State.String()}
		if change.Session != 0 {
			attrs = append(attrs, "session", fmt.Sprintf("0x%x", uint64(change.Session)))
		}
		if change.Err != nil {
			attrs = append(attrs, "error", change.Err)
		}
		log := c.cfg.Logger.Info
		if change.State == Suspended || change.State == Lost {
			log = c.cfg.Logger.Warn
		}
		log("zookeeper session", attrs...)
		for _, f := range c.observers.stateChanged {
			f(change)
		}
	}
}
