package framework

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
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
// spurious, so read again after one. It comes from a read. Events of a zero or nil
// Watch panics with an ErrInvalidArgument.
//
// The server keeps a watch for a while if nobody waits for it any more, and waiting for
// the same node again uses the watch that is there. It is taken back when nobody has
// waited for it for as long as the session timeout, or when there are more than a few
// dozen of that kind; by servers before 3.5 not until it fires or the session ends.
type Watch struct {
	events chan Event

	mu    sync.Mutex
	over  bool
	leave func() bool // stops waiting for the context
}

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

// bind ends the watch with ctx. The server keeps its own until it fires.
func (w *Watch) bind(ctx context.Context, spot *watchSpot) {
	stop := context.AfterFunc(ctx, func() { spot.drop(w) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave = stop
	if w.over {
		stop()
	}
}

// The kinds of watches a server keeps apart.
type watchKind int

const (
	dataWatch watchKind = iota
	existsWatch
	childWatch
)

type watchKey struct {
	kind watchKind
	path string
}

// watchTable shares one server watch per kind and path among all who wait for it.
// Events come from the library's callback, in the order the server sent them; the
// library's own watch channels are ignored.
type watchTable struct {
	mu    sync.Mutex
	spots map[watchKey]*watchSpot
	idle  list.List // of those that nobody waits for, longest idle first
	limit int       // how many of those are kept
	full  func()    // called when there are more; it must not block
}

// A watchSpot is one (possible) watch on the server.
type watchSpot struct {
	table   *watchTable
	key     watchKey
	armed   bool // the server has it
	waiters map[*Watch]struct{}
	idle    *list.Element // nil while somebody waits
	since   time.Time     // when that was no longer so
}

// bytes is the size of the paths of all watches.
func (t *watchTable) bytes() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.spots {
		n += 4 + len(key.path)
	}
	return n
}

// join adds a waiter before the read is sent, so that no event can come too early.
// armed says that the server has the watch already, so that a plain read will do: what
// changes after that read fires it, and a change before makes the event spurious.
func (t *watchTable) join(key watchKey) (spot *watchSpot, w *Watch, armed bool) {
	w = &Watch{events: make(chan Event, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	spot = t.spots[key]
	if spot == nil {
		if t.spots == nil {
			t.spots = map[watchKey]*watchSpot{}
		}
		spot = &watchSpot{table: t, key: key, waiters: map[*Watch]struct{}{}}
		t.spots[key] = spot
	}
	t.unmarkIdle(spot)
	spot.waiters[w] = struct{}{}
	return spot, w, spot.armed
}

// arm notes that the server has the watch. It concerns the spot that was joined only:
// if that has fired since, a new one of the same key has its own watch.
func (spot *watchSpot) arm() {
	spot.table.mu.Lock()
	defer spot.table.mu.Unlock()
	spot.armed = true
}

// drop removes a waiter, and the spot with it if the server does not have the watch.
func (spot *watchSpot) drop(w *Watch) {
	t := spot.table
	t.mu.Lock()
	delete(spot.waiters, w)
	switch {
	case t.spots[spot.key] != spot || len(spot.waiters) > 0 || spot.idle != nil:
	case spot.armed:
		t.markIdle(spot)
		if t.idle.Len() > t.limit && t.full != nil {
			t.full()
		}
	default:
		t.remove(spot)
	}
	t.mu.Unlock()
	w.deliver(Event{}) // none
}

// remove takes a spot out of the table. The caller has the lock.
func (t *watchTable) remove(spot *watchSpot) {
	t.unmarkIdle(spot)
	delete(t.spots, spot.key)
}

// serverEvents says what an event of the server means, and which watches it consumes.
var serverEvents = map[zk.EventType]struct {
	means EventType
	kinds []watchKind
}{
	zk.EventNodeCreated:         {EventCreated, []watchKind{existsWatch}},
	zk.EventNodeDeleted:         {EventDeleted, []watchKind{dataWatch, existsWatch, childWatch}},
	zk.EventNodeDataChanged:     {EventDataChanged, []watchKind{dataWatch, existsWatch}},
	zk.EventNodeChildrenChanged: {EventChildrenChanged, []watchKind{childWatch}},
}

// fire hands an event of the server to all who wait for it.
func (t *watchTable) fire(ev zk.Event) {
	event := serverEvents[ev.Type]
	for _, kind := range event.kinds {
		t.mu.Lock()
		spot := t.spots[watchKey{kind, ev.Path}]
		if spot != nil {
			t.remove(spot)
		}
		t.mu.Unlock()
		spot.tell(Event{Type: event.means})
	}
}

// fireAll hands one event to all who wait for anything.
func (t *watchTable) fireAll(ev Event) {
	t.mu.Lock()
	spots := t.spots
	t.spots = nil
	t.idle.Init()
	t.mu.Unlock()
	for _, spot := range spots {
		spot.tell(ev)
	}
}

func (spot *watchSpot) tell(ev Event) {
	if spot == nil {
		return
	}
	spot.table.mu.Lock()
	waiters := spot.waiters
	spot.waiters = nil
	spot.table.mu.Unlock()
	for w := range waiters {
		w.deliver(ev)
	}
}
