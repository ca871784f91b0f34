package hold

import (
	"context"
	"iter"

	"github.com/zkrecipes/zkrecipes/internal/owner"
)

// A Claim is one that a context has on a hold.
type Claim struct {
	// Hold is what it is on.
	Hold *Hold
	// Forks is how many forks above each other the claim belongs to: 0 if it belongs to
	// the owner that the slot was granted to.
	Forks int
	// Above is set if it is the claim of an owner above, because the context is a
	// fork's.
	Above bool
	// Tentative is set if it was made for the acquire of several slots that the context
	// is for.
	Tentative bool
	// Held is set if its lease is not released, and the hold not lost.
	Held bool
	// Lost is set if the hold is lost.
	Lost bool
}

// Claims yields the claims of a context by which an Acquire could re-enter a hold, or
// would fail because that is lost, the innermost first.
func Claims(ctx context.Context) iter.Seq[Claim] {
	return func(yield func(Claim) bool) {
		trying := TentativeOf(ctx)
		for handle, above := range owner.Claims[*Handle](ctx) {
			h, open := handle.hold, handle.isOpen()
			lost := h.Loss() != nil
			if !lost && !handle.owner.stays(h) {
				continue
			}
			c := Claim{Hold: h, Forks: handle.owner.depth(), Above: above, Held: open && !lost, Lost: lost}
			c.Tentative = trying != nil && TentativeOf(handle.outer) == trying
			if !yield(c) {
				return
			}
		}
	}
}

// stays reports whether an owner has claims on a hold.
func (o *claimant) stays(h *Hold) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return o.claims > 0
}

// depth is the number of owners above an owner.
func (o *claimant) depth() (n int) {
	for above := o.parent; above != nil; above = above.parent {
		n++
	}
	return n
}

// Lock returns the full path of what is held, and its kind, as observers know them.
func (h *Hold) Lock() (path, kind string) { return h.client.FullPath(h.recipe), h.kind }

// IsGrantHeld reports whether the lease of the grant is neither released nor lost. A
// release is known before observers are notified of its end.
func (h *Hold) IsGrantHeld() bool { return h.first.isOpen() && h.Loss() == nil }

type followKey struct{}

// Following returns a context for an observer to return when a hold starts: then follow
// is called with the hold. It may also be called with holds that start later, with a
// context that derives from that of this one.
func Following(ctx context.Context, follow func(*Hold)) context.Context {
	return context.WithValue(ctx, followKey{}, follow)
}
