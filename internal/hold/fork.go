package hold

import (
	"cmp"
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A claimant is one of those who are in a place at the same time: the one that it was
// granted to, and forks of it, which enter below it one at a time, and may have forks
// again. Hold.mu guards it.
//
// Who waits has somebody inside before it, and who is inside is a claim of every owner
// above. So a hold ends after all its forks, and nobody waits in one that has ended,
// unless it was lost.
type claimant struct {
	parent *claimant   // nil: the place was granted to it
	claims int         // handles, and forks that are inside; 0: it has left
	forks  []*ForkWait // that have asked to enter below it, in order: the first is inside. Empty if they share
}

// A ForkWait is the place of a fork in the line of those who enter below one owner. It
// has to be awaited.
type ForkWait struct {
	handle *Handle       // what it will get
	ready  chan struct{} // closed when it is inside
	ahead  int           // how many were in front of it when it was last looked
}

// enter opens a further handle for an owner, or for a new fork of it, unless the hold
// or what this owner has of it is over. A fork may have to wait for its turn.
func (h *Hold) enter(ctx context.Context, o *claimant, forks bool) (*Handle, *ForkWait, error) {
	_ = h.err() // by the clock it may have ended just now
	who := o
	if forks {
		who = &claimant{parent: o}
	}
	handle := h.handle(ctx, who)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.loss; err != nil || o.claims == 0 { // lost, or the last claim was released, or is being released right now
		handle.cancel(err)
		return nil, nil, err
	}
	if forks && !h.Key.Shared {
		turn := &ForkWait{handle: handle, ready: make(chan struct{}), ahead: len(o.forks)}
		if o.forks = append(o.forks, turn); turn.ahead > 0 {
			return nil, turn, nil
		}
	}
	if forks {
		o.claims++
	}
	h.admit(handle)
	return handle, nil, nil
}

// admit counts a handle. The caller has the lock, or the hold for itself.
func (h *Hold) admit(handle *Handle) {
	handle.owner.claims++
	h.handles[handle] = struct{}{}
}

// dismiss takes a handle out of those that count. ended tells that its owner has no
// other, and no fork inside: it has left.
func (h *Hold) dismiss(handle *Handle) (open, ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open = h.handles[handle]; !open {
		return false, false
	}
	delete(h.handles, handle)
	handle.owner.claims--
	return true, handle.owner.claims == 0
}

// admitNext lets the next fork in where an owner has left, in memory and in one step,
// so that the place is never without a claim in between. It reports whether anybody is
// inside still; if not the hold is to be given up.
func (h *Hold) admitNext(left *claimant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for above := left.parent; above != nil; above = above.parent {
		if !h.Key.Shared {
			above.forks = above.forks[1:]
			if len(above.forks) > 0 {
				next := above.forks[0]
				h.admit(next.handle)
				close(next.ready)
				return true
			}
		}
		if above.claims--; above.claims > 0 {
			return true
		}
	}
	return false
}

// Await waits for the turn until ctx ends. If the hold is lost meanwhile, that is the
// error. However it fails, the next in line is not kept waiting.
func (t *ForkWait) Await(ctx context.Context) (*lease.Lease, error) {
	h := t.handle.hold
	select {
	case <-t.ready:
	case <-h.over.Done():
	case <-ctx.Done():
	}
	left := t.leave()
	loss := h.Loss() // asked for after that: whom a loss finds inside it tells. Also by the clock of this moment
	if !left {
		if loss == nil {
			return lease.New(t.handle), nil
		}
		_ = t.handle.Release()
	}
	loss = cmp.Or(loss, context.Cause(ctx))
	t.handle.cancel(loss)
	return nil, loss
}

// leave takes the turn out of the line. It reports false if it is inside already.
func (t *ForkWait) leave() bool {
	t.handle.hold.mu.Lock()
	defer t.handle.hold.mu.Unlock()
	line := &t.handle.owner.parent.forks
	if t.ahead = slices.Index(*line, t); t.ahead <= 0 {
		return false
	}
	*line = slices.Delete(*line, t.ahead, t.ahead+1)
	return true
}

// Ahead returns how many forks were ahead when the turn was last looked at.
func (t *ForkWait) Ahead() int { return t.ahead }
