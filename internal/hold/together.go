package hold

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// What a claim on several holds needs of each: see package multilock.

// HandleOf returns the handle that a lease of an acquire is made of.
func HandleOf(held *lease.Lease) *Handle {
	for handle := range owner.Claims[*Handle](held.Context()) {
		return handle
	}
	return nil
}

// OnEnd has f called once when the claim is over; at once if it is. It may be called on
// any goroutine that finds that out, with no lock of the hold. It must not block.
func (h *Handle) OnEnd(f func()) { h.over.OnGive(f) }

// OnRevocationRequested has f called when a client requests revocation, until stop. It
// must not block, nor call the hold.
func (h *Handle) OnRevocationRequested(f func()) (stop func()) {
	return h.hold.revocationRequested.OnGive(f)
}

// IsAlone reports whether it is the only claim on the hold.
func (h *Handle) IsAlone() bool {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	return h.hold.handles == h && h.next == nil
}

// GiveUp ends the claim because the one that it is a part of is over. If it is alone
// the hold is lost, for that reason; so its znodes remain for as long as those of any
// lost hold, unless the claim is released before. Otherwise the claim is released: the
// hold goes on without it.
func (h *Handle) GiveUp(reason error) {
	switch {
	case !h.IsAlone():
		_ = h.ReleaseAsync()
	case h.hold.table.isClosing():
		h.hold.lose(framework.ErrClosed)
	default:
		h.hold.lose(reason)
	}
}

// isClosing reports whether Close has begun.
func (t *table) isClosing() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closing
}
