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
	table       *watchTable
	key         watchKey
	armed       bool // the server has it
	first, last *waiter
	idle        *list.Element // nil while there are waiters
	since       time.Time     // when the last one left
}

// A waiter waits for the event of an entry. It is in the entry's list until the event,
// or until it is dropped. Every read has its own.
type waiter struct {
	entry      *watchEntry
	next, prev *waiter
	waits      bool // it is in the list, and the entry in the table
	to         recipient
}

// A recipient is what an event is delivered to: a Watch, or a function.
type recipient interface{ deliver(ev Event) }

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
func (t *watchTable) join(key watchKey, to recipient) (w *waiter, armed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := t.entries[key]
	if entry == nil {
		if t.entries == nil {
			t.entries = map[watchKey]*watchEntry{}
		}
		entry = &watchEntry{table: t, key: key}
		t.entries[key] = entry
	}
	t.unmarkIdle(entry)
	w = &waiter{entry: entry, prev: entry.last, waits: true, to: to}
	if entry.last = w; w.prev == nil {
		entry.first = w
	} else {
		w.prev.next = w
	}
	return w, entry.armed
}

// arm records that the server has the watch. That is about this entry only: if it has
// fired since, a new one of the same key has its own watch.
func (entry *watchEntry) arm() {
	entry.table.mu.Lock()
	defer entry.table.mu.Unlock()
	entry.armed = true
}

// drop removes a waiter, and the entry with it if the server does not have the watch.
// No event is delivered to it any more, unless that has begun. It is idempotent.
func (w *waiter) drop() {
	entry := w.entry
	t := entry.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if !w.waits {
		return
	}
	entry.unlink(w)
	switch {
	case entry.first != nil:
	case entry.armed:
		t.markIdle(entry)
		if t.idle.Len() > t.limit && t.full != nil {
			t.full()
		}
	default:
		t.remove(entry)
	}
}

// unlink takes a waiter out of the list. The caller has the lock.
func (entry *watchEntry) unlink(w *waiter) {
	w.waits = false
	if w.prev == nil {
		entry.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		entry.last = w.prev
	} else {
		w.next.prev = w.prev
	}
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

// fire gives an event of the server to all who wait for it, in the order in which they
// joined.
func (t *watchTable) fire(ev zk.Event) {
	event := serverEvents[ev.Type]
	for _, kind := range event.kinds {
		t.mu.Lock()
		var first *waiter
		if entry := t.entries[watchKey{kind, ev.Path}]; entry != nil {
			t.remove(entry)
			first = entry.takeWaiters()
		}
		t.mu.Unlock()
		first.deliver(Event{Type: event.means})
	}
}

// fireAll gives one event to all waiters.
func (t *watchTable) fireAll(ev Event) {
	t.mu.Lock()
	var all []*waiter
	for _, entry := range t.entries {
		all = append(all, entry.takeWaiters())
	}
	t.entries = nil
	t.idle.Init()
	t.mu.Unlock()
	for _, first := range all {
		first.deliver(ev)
	}
}

// takeWaiters empties the list of an entry that is not in the table any more, and
// returns its first waiter. The caller has the lock.
func (entry *watchEntry) takeWaiters() (first *waiter) {
	first = entry.first
	for w := first; w != nil; w = w.next {
		w.waits = false
	}
	entry.first, entry.last = nil, nil
	return first
}

// deliver gives an event to a waiter that has left the list, and to those behind it.
func (w *waiter) deliver(ev Event) {
	for ; w != nil; w = w.next {
		w.to.deliver(ev)
	}
}
