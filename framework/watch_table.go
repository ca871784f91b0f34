package framework

import (
	"container/list"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

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
// come from the guard, in the order the server sent them.
type watchTable struct {
	mu      sync.Mutex
	round   int // of watches that were given to be set on a new connection
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
	missing     bool // there was no node
	first, last *waiter
	idle        *list.Element // nil while there are waiters
	since       time.Time     // when the last one left, or asked for what is known
	known       bool          // data are what the node has while the watch has not fired
	data        []byte
	stat        Stat
}

// A waiter waits for the event of an entry. It is in the entry's list until the event,
// or until it is dropped. Every read has its own.
type waiter struct {
	entry      *watchEntry
	next, prev *waiter
	waits      bool // it is in the list, and the entry in the table
	round      int  // of the connection that its read is for
	to         recipient
}

// A recipient is what an event is delivered to: a Watch, or a function.
type recipient interface{ deliver(ev Event) }

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
	w = &waiter{entry: entry, prev: entry.last, waits: true, round: t.round, to: to}
	if entry.last = w; w.prev == nil {
		entry.first = w
	} else {
		w.prev.next = w
	}
	return w, entry.armed
}

// arm records that the server has the watch that the read of the waiter has set, of a
// node that exists or does not. That is about its entry only: if that has fired since,
// a new one of the same key has its own watch. It returns false if the server does not
// have it any more: the answer came over a connection that has broken, and is handled
// when the watches of the next one were given already.
func (w *waiter) arm(exists bool) bool {
	entry := w.entry
	entry.table.mu.Lock()
	defer entry.table.mu.Unlock()
	switch {
	case entry.armed:
	case w.round != entry.table.round:
		return false
	default:
		entry.armed, entry.missing = true, !exists
	}
	return true
}

// watched returns the watches to be set on a new connection. Those without a waiter are
// given up.
func (t *watchTable) watched() (w guard.Watched) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.round++
	for key, entry := range t.entries {
		entry.known = false // events for what was missed come in no order
		switch {
		case entry.idle != nil:
			t.remove(entry)
		case !entry.armed: // its read has failed, or will be repeated
		case key.kind == childWatch:
			w.Children = append(w.Children, key.path)
		case entry.missing:
			w.Missing = append(w.Missing, key.path)
		default:
			w.Data = append(w.Data, key.path)
		}
	}
	return w
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

// consumed says which watches an event of the server consumes. The server numbers the
// events as this package does.
var consumed = map[EventType][]watchKind{
	EventCreated:         {existsWatch},
	EventDeleted:         {dataWatch, existsWatch, childWatch},
	EventDataChanged:     {dataWatch, existsWatch},
	EventChildrenChanged: {childWatch},
}

// fire gives an event of the server to all who wait for it, in the order in which they
// joined.
func (t *watchTable) fire(event EventType, path string) {
	for _, kind := range consumed[event] {
		t.mu.Lock()
		var first *waiter
		if entry := t.entries[watchKey{kind, path}]; entry != nil {
			t.remove(entry)
			first = entry.takeWaiters()
		}
		t.mu.Unlock()
		first.deliver(Event{Type: event})
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
