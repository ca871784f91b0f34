package hold

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// A table has all holds of a session. One goroutine looks after them, from the first
// hold on. A hold costs an entry, but no goroutine, no timer, and no request within
// LookDelay.
//
// Whatever may end a hold, or is found out about one, marks it and wakes the goroutine,
// which asks the hold itself. Locks: nothing is locked, and nothing of the client is
// called, with table.mu. An event may come with any lock of the client.
type table struct {
	session *framework.Session
	epoch   time.Time     // from which its times count
	wake    chan struct{} // full if the goroutine has something to do

	mu        sync.Mutex
	due       deadlines
	marked    []*Hold
	looks     []*node         // to be looked at, in order
	looking   int             // how many goroutines do
	armed     time.Duration   // when the goroutine wakes by itself
	suspended <-chan struct{} // of the newest hold
	closing   bool            // Close has begun
	over      bool            // the goroutine has ended, or will not start
	removing  context.Context // for the removals that begin now
	renewal   time.Duration   // when they need another

	begin sync.Once // starts it
}

// An entry is what a table keeps of a hold. The table's mutex guards it.
type entry struct {
	own      node
	also     []node
	ends     time.Duration // the maximum hold time, then the removal of a lost hold
	due      bool          // ends has passed
	marked   bool
	lost     bool // it was found lost, and observers were notified
	released bool // although lost
}

type tableKey struct{}

func tableOf(c *framework.Client, s *framework.Session) *table {
	return kit.Of(c).Kept(s, tableKey{}, newTable).(*table) //nolint:forcetypeassert // of newTable
}

func newTable() any { return &table{epoch: time.Now(), wake: make(chan struct{}, 1)} }

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

func (t *table) now() time.Duration { return time.Since(t.epoch) }

// add adds a hold, unless it is too late for that; the error says why. The goroutine
// was started before: so Close ends every hold that is in the table.
func (t *table) add(h *Hold, g *Grant) error {
	t.begin.Do(func() { t.start(g.Client, g.Session) })
	now := t.now()
	e := &h.entry
	e.ends, e.own.path = never, g.Path
	for _, path := range g.Also {
		e.also = append(e.also, node{path: path})
	}
	if h.terms.MaxHold > 0 {
		e.ends = h.since + h.terms.MaxHold
	}
	look := now + LookDelay
	if !g.Made.IsZero() {
		look = g.Made.Sub(t.epoch) + LookDelay
	}
	if g.Watch != nil {
		e.own.watched, e.own.stop, look = true, g.Watch.Stop, now+h.pause(g.Path)
	}
	if !t.enterAll(h, look, now+LookDelay) {
		return cmp.Or(g.Session.Err(), framework.ErrClosed)
	}
	return nil
}

// enterAll enters the nodes of a hold, unless it is too late.
func (t *table) enterAll(h *Hold, own, others time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.closing {
		return false
	}
	t.enter(&h.entry.own, h, own)
	for i := range h.entry.also {
		t.enter(&h.entry.also[i], h, others)
	}
	if t.due[0].next() < t.armed {
		t.awake()
	}
	if h.suspended != t.suspended { // the connection of the others has broken
		t.suspended = h.suspended
		for _, n := range t.due {
			t.markEntry(n.hold)
		}
	}
	return true
}

// start starts the goroutine.
func (t *table) start(c *framework.Client, s *framework.Session) {
	t.session = s
	if !kit.Of(c).GoHolding(s, t.close, t.run) {
		t.over = true
	}
}

func (t *table) enter(n *node, h *Hold, look time.Duration) {
	n.hold, n.look = h, look
	heap.Push(&t.due, n)
}

// release takes a hold out that was released. One that was lost before is taken out
// when that was reported.
func (t *table) release(h *Hold, lost bool) {
	if !lost {
		t.drop(h)
		return
	}
	t.mu.Lock()
	h.entry.released = true
	t.mu.Unlock()
	t.mark(h)
}

// drop takes a hold out of the table.
func (t *table) drop(h *Hold) {
	t.mu.Lock()
	var cancels []context.CancelFunc
	for n := range h.entry.nodes() {
		if n.in() {
			heap.Remove(&t.due, int(n.place-1))
		}
		if n.cancel != nil {
			cancels = append(cancels, n.cancel)
		}
	}
	t.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
}

// mark has the goroutine ask a hold whether it is lost.
func (t *table) mark(h *Hold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.markEntry(h)
}

// markEntry is mark for a caller that has the lock.
func (t *table) markEntry(h *Hold) {
	if h.entry.own.in() && !h.entry.marked {
		h.entry.marked = true
		t.marked = append(t.marked, h)
		t.awake()
	}
}

func (t *table) awake() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}
