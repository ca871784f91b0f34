package hold

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// What a claim on several holds needs of each: see Several.

// innermost returns the handle that was added last to the ownership of a context, nil
// if it owns nothing.
func innermost(ctx context.Context) *Handle {
	for handle := range owner.Claims[*Handle](ctx) {
		return handle
	}
	return nil
}

// Owns reports whether a context owns a hold.
func Owns(ctx context.Context) bool { return innermost(ctx) != nil }

// OnEnd has f called once when a lease is over; at once if it is. It may be called on
// any goroutine that finds that out, with no lock of the hold. It must not block.
func OnEnd(held *lease.Lease, f func()) { innermost(held.Context()).over.OnGive(f) }

// Leases are those that a context owns, the innermost first.
func Leases(ctx context.Context) iter.Seq[*lease.Lease] {
	return func(yield func(*lease.Lease) bool) {
		for handle := range owner.Claims[*Handle](ctx) {
			if !yield(&handle.lease) {
				return
			}
		}
	}
}

// isFirst reports whether it is the only claim of its owner: then the slot, or the
// place among the forks of an owner above, is free when it is released.
func (h *Handle) isFirst() bool {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	return h.owner.claims == 1
}

// discard releases a claim that no caller has got. It waits for nothing: what cannot be
// sent at once is deleted in the background.
func (h *Handle) discard() { _ = h.release(discarded) }

// giveUp ends the claim, with a cause for its context, because the one that it is a
// part of is lost. What it claims is free for others when it is released, or after the
// same time as that of any lost hold: if it is the only claim the hold is lost;
// otherwise the hold goes on without it.
func (h *Handle) giveUp(cause error) {
	h.interrupt(cause)
	h.hold.mu.Lock()
	alone := h.hold.handles == h && h.next == nil && h.owner.parent == nil // no fork waits for it
	h.hold.mu.Unlock()
	switch {
	case !alone:
		h.hold.Session().Go(h.windDown) // or the session is over, and with it the hold
	case h.hold.isClosing():
		h.hold.lose(framework.ErrClosed)
	default:
		h.hold.lose(lease.ErrMemberLost)
	}
}

// interrupt ends the context of the claim, which remains a claim on the hold.
func (h *Handle) interrupt(cause error) {
	_ = h.Context()
	h.mu.Lock()
	cancel := h.cancel
	h.mu.Unlock()
	cancel(cause)
	h.over.Give()
}

// windDown releases the claim when work under it has had time to end. While the client
// is being closed that is the time until the session ends.
func (h *Handle) windDown(ctx context.Context) {
	timer := time.NewTimer(h.hold.Session().Timeout() / 6)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	if h.hold.isClosing() {
		<-ctx.Done()
		return
	}
	_ = h.release(givenUp)
}

// isClosing reports whether Close of the client has begun. Its sessions, of which one
// has the hold, learn of that one after the other.
func (h *Hold) isClosing() bool { return errors.Is(h.client.Reachable(), framework.ErrClosed) }
