package hold

import (
	"cmp"
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A claimant is an owner of a hold: the one that the slot was granted to, or a fork,
// which enters below another owner and may have forks again. Forks of one owner enter
// one at a time unless the hold is shared. Hold.mu guards it.
//
// While a fork waits another is admitted, and an admitted fork is a claim of every
// owner above it. So a hold ends after all its forks, and no fork waits in one that has
// ended, unless it was lost.
type claimant struct {
	parent *claimant   // nil: the slot was granted to it
	claims int         // handles, and admitted forks; 0: it has left
	forks  []*ForkWait // below it, in the order of their calls: the first is admitted. Empty if they share
}

// A ForkWait is the wait of a fork until the forks before it have left. Await must be
// called.
type ForkWait struct {
	handle *Handle       // what it will get
	ready  chan struct{} // closed when it is admitted
	ahead  int           // how many forks were ahead at the last look
}

// enter makes a further handle for an owner, or for a new fork of it, unless the hold
// has ended or the owner has left. A fork may have to wait.
func (h *Hold) enter(ctx context.Context, o *claimant, forks bool) (*Handle, *ForkWait, error) {
	_ = h.err() // it may have ended just now, by the clock
	owner := o
	if forks {
		owner = &claimant{parent: o}
	}
	handle := new(Handle)
	h.bind(ctx, handle, owner)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.loss != nil:
		return nil, nil, h.loss.why
	case o.claims == 0: // the last claim was released, perhaps just now
		return nil, nil, nil
	}
	if forks && !h.shared {
		wait := &ForkWait{handle: handle, ready: make(chan struct{}), ahead: len(o.forks)}
		if o.forks = append(o.forks, wait); wait.ahead > 0 {
			return nil, wait, nil
		}
	}
	if forks {
		o.claims++
	}
	h.admit(handle)
	return handle, nil, nil
}

// admit adds a handle. The caller has the lock, or nothing else has the hold yet.
func (h *Hold) admit(handle *Handle) {
	handle.owner.claims++
	handle.open, handle.next = true, h.handles
	if h.handles = handle; handle.next != nil {
		handle.next.prev = handle
	}
}

// dismiss removes a handle, whose claim counts until endClaim. It returns false if it
// was removed before.
func (h *Hold) dismiss(handle *Handle) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !handle.open {
		return false
	}
	handle.open = false
	if handle.prev == nil {
		h.handles = handle.next
	} else {
		handle.prev.next = handle.next
	}
	if handle.next != nil {
		handle.next.prev = handle.prev
	}
	return true
}

// endClaim ends the claim of a handle that was dismissed. left says that its owner has
// no other handle and no admitted fork.
func (h *Hold) endClaim(o *claimant) (left bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.claims--
	return o.claims == 0
}

// admitNext admits the next fork when an owner has left, in one step, so that the hold
// is never without a claim in between. It returns false if no claim is left: then the
// hold has to be released.
func (h *Hold) admitNext(left *claimant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for above := left.parent; above != nil; above = above.parent {
		if !h.shared {
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

// Await waits until the fork is admitted, ctx ends, or the hold is lost, which is the
// error then. However it fails, the next fork does not have to wait for this one.
func (t *ForkWait) Await(ctx context.Context) (*lease.Lease, error) {
	h := t.handle.hold
	select {
	case <-t.ready:
	case <-h.over.Done():
	case <-ctx.Done():
	}
	left := t.leave()
	loss := h.Loss() // after leave: an admitted fork learns of a loss by its handle. It also compares the clock
	if !left {
		if loss == nil {
			return &t.handle.lease, nil
		}
		_ = t.handle.Release()
	}
	return nil, cmp.Or(loss, context.Cause(ctx))
}

// leave ends the wait. It returns false if the fork is admitted already.
func (t *ForkWait) leave() bool {
	t.handle.hold.mu.Lock()
	defer t.handle.hold.mu.Unlock()
	forks := &t.handle.owner.parent.forks
	if t.ahead = slices.Index(*forks, t); t.ahead <= 0 {
		return false
	}
	*forks = slices.Delete(*forks, t.ahead, t.ahead+1)
	return true
}

// Ahead returns how many forks were ahead at the last look.
func (t *ForkWait) Ahead() int { return t.ahead }
