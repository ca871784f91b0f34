package framework

import (
	"context"
	"sync"
)

// EventType is what a watch reports.
type EventType int

// The events of a watch.
const (
	// EventCreated means that the node now exists.
	EventCreated EventType = iota + 1
	// EventDeleted means that the node is gone.
	EventDeleted
	// EventDataChanged means that the node's data was set.
	EventDataChanged
	// EventChildrenChanged means that a child was created or deleted.
	EventChildrenChanged
	// EventRecheck means that the watch could not be kept and that a change may have
	// been missed: read again.
	EventRecheck
	// EventSessionEnded means that the session of the watch is over; Err says why.
	EventSessionEnded
)

// String returns the event's name.
func (t EventType) String() string {
	return nameOf(t-EventCreated, "event", "created", "deleted", "data changed", "children changed", "recheck", "session ended")
}

// An Event is what a watch has seen.
type Event struct {
	// Type says what happened.
	Type EventType
	// Err is the reason of an EventSessionEnded, else nil.
	Err error
}

// A Watch reports the first change after the read that it came with. An event may be
// spurious, so read again after one. It comes from a read. On a zero or nil Watch,
// Events panics with an ErrInvalidArgument.
//
// When the context of the read ends, the server keeps the watch for a while, and the
// next read of the same node uses it. It is removed when it was not used for a session
// timeout, or when more than a few dozen are unused. Servers before 3.5 keep it until
// it fires or the session ends.
type Watch struct {
	events chan Event

	mu    sync.Mutex
	over  bool
	leave func() bool // stops waiting for the context
}

func newWatch() recipient { return &Watch{events: make(chan Event, 1)} }

// Events returns the channel on which the one event comes. It is closed after it, and
// without one when the context given to the read ends.
func (w *Watch) Events() <-chan Event {
	if w == nil || w.events == nil {
		panic(errZeroWatch)
	}
	return w.events
}

func (w *Watch) deliver(ev Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.over = true
	if w.leave != nil {
		w.leave()
	}
	if ev.Type != 0 {
		w.events <- ev
	}
	close(w.events)
}

// bind ends the watch with ctx. The server keeps its own.
func (w *Watch) bind(ctx context.Context, own *waiter) {
	stop := context.AfterFunc(ctx, func() {
		own.drop()
		w.deliver(Event{}) // none
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave = stop
	if w.over {
		stop()
	}
}
