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
func (w *Watch) bind(ctx context.Context, entry *watchEntry) {
	stop := context.AfterFunc(ctx, func() { entry.drop(w) })
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

// watchTable shares one watch on the server per kind and path among all Watches. Events
// come from the library's callback, in the order the server sent them; the library's
// own watch channels are ignored.
type watchTable struct {
	mu      sync.Mutex
	entries map[watchKey]*watchEntry
	idle    list.List // of those without a waiter, longest idle first
	limit   int       // how many of those are kept
	full    func()    // called when there are more; it must not block
}

// A watchEntry is a watch on the server, or one that is being set.
type watchEntry struct {
	table   *watchTable
	key     watchKey
	armed   bool // the server has it
	waiters map[*Watch]struct{}
	idle    *list.Element // nil while there are waiters
	since   time.Time     // when the last one left
}

// bytes is the size of the paths of all entries.
func (t *watchTable) bytes() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.entries {
		n += 4 + len(key.path)
	}
	return n
}

// join adds a waiter before the read is sent, so that no event can come too early. If
// armed, the server has the watch already and a plain read is enough: a change after
// that read fires it, and a change before makes the event spurious.
func (t *watchTable) join(key watchKey) (entry *watchEntry, w *Watch, armed bool) {
	w = &Watch{events: make(chan Event, 1)}
	t.mu.Lock()
	defer t.mu.Unlock()
	entry = t.entries[key]
	if entry == nil {
		if t.entries == nil {
			t.entries = map[watchKey]*watchEntry{}
		}
		entry = &watchEntry{table: t, key: key, waiters: map[*Watch]struct{}{}}
		t.entries[key] = entry
	}
	t.unmarkIdle(entry)
	entry.waiters[w] = struct{}{}
	return entry, w, entry.armed
}

// arm records that the server has the watch. That is about this entry only: if it has
// fired since, a new one of the same key has its own watch.
func (entry *watchEntry) arm() {
	entry.table.mu.Lock()
	defer entry.table.mu.Unlock()
	entry.armed = true
}

// drop removes a waiter, and the entry with it if the server does not have the watch.
func (entry *watchEntry) drop(w *Watch) {
	t := entry.table
	t.mu.Lock()
	delete(entry.waiters, w)
	switch {
	case t.entries[entry.key] != entry || len(entry.waiters) > 0 || entry.idle != nil:
	case entry.armed:
		t.markIdle(entry)
		if t.idle.Len() > t.limit && t.full != nil {
			t.full()
		}
	default:
		t.remove(entry)
	}
	t.mu.Unlock()
	w.deliver(Event{}) // none
}

// remove removes an entry from the table. The caller has the lock.
func (t *watchTable) remove(entry *watchEntry) {
	t.unmarkIdle(entry)
	delete(t.entries, entry.key)
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

// fire gives an event of the server to all who wait for it.
func (t *watchTable) fire(ev zk.Event) {
	event := serverEvents[ev.Type]
	for _, kind := range event.kinds {
		t.mu.Lock()
		entry := t.entries[watchKey{kind, ev.Path}]
		if entry != nil {
			t.remove(entry)
		}
		t.mu.Unlock()
		entry.notify(Event{Type: event.means})
	}
}

// fireAll gives one event to all waiters.
func (t *watchTable) fireAll(ev Event) {
	t.mu.Lock()
	entries := t.entries
	t.entries = nil
	t.idle.Init()
	t.mu.Unlock()
	for _, entry := range entries {
		entry.notify(ev)
	}
}

func (entry *watchEntry) notify(ev Event) {
	if entry == nil {
		return
	}
	entry.table.mu.Lock()
	waiters := entry.waiters
	entry.waiters = nil
	entry.table.mu.Unlock()
	for w := range waiters {
		w.deliver(ev)
	}
}
