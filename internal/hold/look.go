package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// LookDelay is how long after the create of its znode a hold sets a watch on it that
// was granted without one, as it had nothing to wait for. A hold that has ended by
// then, as most have, saves the read; any other finds an earlier deletion when it sets
// the watch.
const LookDelay = 10 * time.Millisecond

// lookAgain is how long it waits after a read without an answer.
const lookAgain = 100 * time.Millisecond

// maxLooking is how many looks are under way at once, in a session. More would keep its
// own requests waiting.
const maxLooking = 16

// pause returns how long it takes until a znode that is watched is looked at again,
// because it may have been deleted without an event.
func (h *Hold) pause(path string) time.Duration { return pause(h.Session(), shareOf(path)) }

// notify gets the event of a watch on the node.
func (n *node) notify(ev framework.Event) {
	switch ev.Type {
	case framework.EventSessionEnded: // which ends the hold
	case framework.EventDeleted:
		n.hold.doom(lease.ErrDeleted)
	default:
		n.hold.table.lookNow(n)
	}
}

// lookNow has a node looked at whose watch has fired.
func (t *table) lookNow(n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n.watched = false
	switch {
	case !n.in() || n.hold.entry.lost:
	case n.cancel != nil:
		n.changed = true
	case n.look != never:
		n.look = 0
		t.due.moved(n)
		t.awake()
	}
}

// startLooks starts goroutines for the looks that are queued.
func (t *table) startLooks() {
	t.mu.Lock()
	more := min(maxLooking-t.looking, len(t.looks))
	t.looking += more
	t.mu.Unlock()
	for range more {
		if !t.session.Go(t.lookAll) {
			return // it is over
		}
	}
}

// lookAll makes looks until none is queued.
func (t *table) lookAll(ctx context.Context) {
	for {
		ctx, n, watched := t.nextLook(ctx)
		switch {
		case n == nil:
			return
		case watched:
			n.lookAgain(ctx)
		default:
			n.lookAndWatch(ctx)
		}
	}
}

// nextLook returns the node to look at, and the context for that, nil if there is none.
func (t *table) nextLook(ctx context.Context) (context.Context, *node, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.looks) > 0 {
		n := t.looks[0]
		t.looks = t.looks[1:]
		if n.in() && !n.hold.entry.lost {
			look, cancel := context.WithCancel(ctx)
			n.cancel = cancel
			return look, n, n.watched
		}
	}
	t.looks = nil
	t.looking--
	return nil, nil, false
}

// lookAgain looks whether a watched node was deleted or replaced without an event.
func (n *node) lookAgain(ctx context.Context) {
	exists, stat, err := kit.Of(n.hold.client).Once().Exists(ctx, n.path)
	if err == nil && !exists {
		err = framework.ErrNoNode
	}
	n.hold.judge(stat, err)
	n.hold.table.looked(n, nil, n.hold.pause(n.path))
}

// lookAndWatch reads a node and watches it. Without an answer it looks again soon.
func (n *node) lookAndWatch(ctx context.Context) {
	h := n.hold
	data, stat, stop, err := kit.Of(h.client).GetNotify(ctx, n.path, n.notify)
	if errors.Is(err, framework.ErrReplyTooLarge) { // the size of the data does not end a hold
		var exists bool
		if exists, stat, stop, err = kit.Of(h.client).ExistsNotify(ctx, n.path, n.notify); err == nil && !exists {
			stop()
			stop, err = nil, framework.ErrNoNode
		}
	}
	if !h.judge(stat, err) && znode.RevocationRequested(data) {
		h.revocationRequested.Give()
	}
	next := lookAgain
	if err == nil {
		next = h.pause(n.path)
	}
	h.table.looked(n, stop, next)
}

// looked ends a look. stop ends the watch that it has set, nil if it has set none; next
// is the time until the next look.
func (t *table) looked(n *node, stop func(), next time.Duration) {
	t.mu.Lock()
	cancel := n.cancel
	n.cancel = nil
	if n.in() && stop != nil {
		n.stop, n.watched, stop = stop, !n.changed, nil
	}
	if n.in() && !n.hold.entry.lost {
		if n.look = t.now() + next; n.changed {
			n.look = 0
		}
		if t.due.moved(n); n.next() < t.armed {
			t.awake()
		}
	}
	n.changed = false
	t.mu.Unlock()
	cancel()
	if stop != nil {
		stop() // the hold was released meanwhile
	}
}

// unwatch ends the watches of a hold whose nodes are gone, or are as good as gone.
func (h *Hold) unwatch() {
	for n := range h.entry.nodes() {
		h.table.mu.Lock()
		stop := n.stop
		n.stop = nil
		h.table.mu.Unlock()
		if stop != nil {
			stop()
		}
	}
}

// judge ends the hold if a read of one of its znodes shows that it was deleted, was
// replaced, or must not be read any more, so that it cannot be watched.
func (h *Hold) judge(stat framework.Stat, err error) (lost bool) {
	switch {
	case errors.Is(err, framework.ErrNoNode), framework.OutcomeOf(err) == framework.Failed && errors.Is(err, framework.ErrNoAuth):
		h.lose(missing(err))
	case err == nil && (stat.Czxid != h.czxid || stat.EphemeralOwner != h.Session().ID()):
		h.lose(errReplaced)
	default:
		return false
	}
	return true
}

// missing returns the reason of a loss: the znode was not found, or may not be read
// after a change of its ACL, so that its existence is unknown.
func missing(err error) error {
	if errors.Is(err, framework.ErrNoNode) {
		return lease.ErrDeleted
	}
	return err
}
