package framework

import (
	"context"
	"iter"
	"sync"
	"time"
)

// timeline is the list of all transitions from some time on, those of each session and
// those of the client. It is a linked list whose last element has a channel that closes
// when the next element exists. So a reader can be slow: it blocks no other goroutine
// and misses nothing, and elements that no reader holds any more are garbage.
//
// The client's state is the worst of those of its main session and of the further ones
// that hold something. The loss of any of these is one of the client's transitions,
// too. A further session counts from its first trouble on if it holds something then:
// as long as it is attached it changes nothing.
type timeline struct {
	mu      sync.Mutex
	last    *transition
	client  StateChange        // the client's present state
	main    StateChange        // what the main session has become last
	further map[int64]standing // what the others have become, until they are lost
}

type standing struct {
	StateChange
	counts bool
}

type transition struct {
	change StateChange
	own    bool          // a session has become that, or the client is closed
	client bool          // so has the client
	ready  chan struct{} // closed when next is set
	next   *transition
}

func newTimeline() *timeline {
	begun := StateChange{State: Connecting, At: time.Now()}
	return &timeline{client: begun, main: begun, last: &transition{change: begun, own: true, client: true, ready: make(chan struct{})}, further: map[int64]standing{}}
}

// add appends a transition of the main session, or Closed, if it is legal. Reports
// about an older session, or of a suspension that comes after the loss, are thus
// ignored.
func (t *timeline) add(change StateChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client.State == Closed || !legal(t.main, change) {
		return
	}
	t.main = change
	t.own(change, change.State == Lost)
}

// addFurther does that for a further session. holds says whether it holds something.
func (t *timeline) addFurther(change StateChange, holds bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := t.further[change.Session]
	if t.client.State == Closed || !legal(from.StateChange, change) {
		return
	}
	counts := change.State != Connected && (holds || from.counts)
	t.further[change.Session] = standing{change, counts}
	if change.State == Lost {
		delete(t.further, change.Session)
	}
	t.own(change, counts && change.State == Lost)
}

// forget forgets a further session that was closed because it was not used. It may
// have been suspended until then.
func (t *timeline) forget(session int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.further, session)
	t.follow(time.Now())
}

// own appends what a session has become, and what the client becomes by that: lost, and
// then again as good as its sessions are. The caller has the lock.
func (t *timeline) own(change StateChange, lost bool) {
	worst := t.worst()
	same := worst.State == change.State && worst.Session == change.Session
	becomes := lost || same && change.State != t.client.State
	t.append(&transition{change: change, own: true, client: becomes})
	t.follow(change.At)
}

// follow has the client become what its sessions are. The caller has the lock.
func (t *timeline) follow(at time.Time) {
	if worst := t.worst(); t.client.State != Closed && worst.State != t.client.State {
		worst.At = at
		t.append(&transition{change: worst, client: true})
	}
}

// worst returns the state of the client. The caller has the lock.
func (t *timeline) worst() StateChange {
	worst := t.main
	for _, s := range t.further {
		if t.main.State == Connected && s.counts && (worst.State == Connected || s.At.Before(worst.At)) {
			worst = s.StateChange
		}
	}
	return worst
}

func (t *timeline) append(next *transition) {
	next.ready = make(chan struct{})
	if next.client {
		t.client = next.change
	}
	t.last.next = next
	close(t.last.ready)
	t.last = next
}

// legal holds the transitions of one session, drawn in the package documentation.
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

// present returns the client's state, and the newest transition.
func (t *timeline) present() (StateChange, *transition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.client, t.last
}

// later returns the transitions behind this one as they happen, until Closed, or until
// ctx ends.
func (m *transition) later(ctx context.Context) iter.Seq[*transition] {
	return func(yield func(*transition) bool) {
		for m := m; m.change.State != Closed; {
			select {
			case <-m.ready:
			case <-ctx.Done():
				return
			}
			if m = m.next; !yield(m) {
				return
			}
		}
	}
}
