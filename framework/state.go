package framework

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// State is what a client knows of its sessions.
type State int

// The states of a Client; the package documentation shows the transitions.
const (
	// Connecting means that the first session does not exist yet.
	Connecting State = iota
	// Connected means that the session is attached to a server, and so are all further
	// ones that hold something.
	Connected
	// Suspended means that no server answers in one of these sessions; it may still
	// live.
	Suspended
	// Lost means that the client does not use one of these sessions any more.
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

// States returns the client's states as they happen, beginning with the present one.
// The sequence never skips a transition and never delays the client, however slow the
// reader is. It ends after Closed, or when ctx ends.
func (c *Client) States(ctx context.Context) iter.Seq[StateChange] {
	c.mustBeUsable()
	present, newest := c.core.states.present()
	return func(yield func(StateChange) bool) {
		if !yield(present) {
			return
		}
		for t := range newest.later(ctx) {
			if t.client && !yield(t.change) {
				return
			}
		}
	}
}

// State returns the present state.
func (c *Client) State() State {
	c.mustBeUsable()
	present, _ := c.core.states.present()
	return present.State
}

// became records the state in which the session is.
func (s *Session) became(state State, err error) {
	change := StateChange{State: state, Session: s.ID(), At: time.Now(), Err: err}
	if s.further {
		s.core.states.addFurther(change, s.quota.holds())
	} else {
		s.core.states.add(change)
	}
}

// report passes what becomes of each session to the log, and what becomes of the client
// to the observers.
func (c *core) report(from *transition) {
	c.reportOne(from)
	for t := range from.later(context.Background()) {
		c.reportOne(t)
	}
}

func (c *core) reportOne(t *transition) {
	if t.own {
		c.logState(t.change)
	}
	if t.client {
		for _, f := range c.observers.stateChanged {
			f(t.change)
		}
	}
}

func (c *core) logState(change StateChange) {
	attrs := []any{"state", change.State.String()}
	if change.Session != 0 {
		attrs = append(attrs, "session", sessionName(change.Session))
	}
	if change.Err != nil {
		attrs = append(attrs, "error", change.Err)
	}
	if change.State == Suspended || change.State == Lost {
		c.cfg.Logger.Warn("zookeeper session", attrs...)
		return
	}
	c.cfg.Logger.Info("zookeeper session", attrs...)
}

// sessionName writes the id of a session as ZooKeeper does.
func sessionName(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
