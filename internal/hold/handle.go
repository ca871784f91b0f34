package hold

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/internal/signal"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Handle is one claim on a hold, and implements lease.Claim, which says what its
// methods do.
type Handle struct {
	hold  *Hold
	owner *claimant
	lease lease.Lease
	outer context.Context // with which it was made
	over  signal.Signal   // the claim was released or lost

	next, prev *Handle // in Hold.handles; Hold.mu guards them

	mu     sync.Mutex      // guards ctx, cancel and ended
	ctx    context.Context // derived from outer when it is first asked for; it owns the hold
	cancel context.CancelCauseFunc
	ended  end
	open   bool // it is in Hold.handles; Hold.mu guards it
}

// An end is how a claim has ended.
type end uint8

const (
	notEnded end = iota
	released
	lost
)

// Context ends with the claim, and with the caller's context.
func (h *Handle) Context() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx == nil {
		h.ctx, h.cancel = context.WithCancelCause(owner.Bind(h.outer, h))
		if h.ended != notEnded {
			h.cancel(h.hold.reason(h.ended))
		}
	}
	return h.ctx
}

// Done is closed when the claim is over.
func (h *Handle) Done() <-chan struct{} { return h.over.Done() }

// Token returns the fencing token.
func (h *Handle) Token() lease.Token { return h.hold.token }

// Tokens returns the fencing token alone.
func (h *Handle) Tokens() []lease.Token { return []lease.Token{h.Token()} }

// Path returns the znode as the client that acquired it names it.
func (h *Handle) Path() string { return h.hold.Path() }

// TrustedUntil returns the time until which the hold is certain to last if no server
// answers any more. After a loss it is what it was then.
func (h *Handle) TrustedUntil() time.Time {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	if h.hold.loss != nil {
		return h.hold.loss.trusted
	}
	return h.hold.trustedUntil()
}

// Err returns nil while the claim is valid. It compares the clock.
func (h *Handle) Err() error {
	if !h.isOpen() {
		return releasedError{h.hold}
	}
	if err := h.hold.err(); err != nil {
		return err
	}
	switch {
	case !h.over.Given():
		return nil
	case !h.isOpen(): // just now
		return releasedError{h.hold}
	}
	return h.hold.lost(lease.ErrMemberLost) // it was given up
}

func (h *Handle) isOpen() bool {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	return h.open
}

// RevocationRequested is closed when a client has requested revocation.
func (h *Handle) RevocationRequested() <-chan struct{} { return h.hold.revocationRequested.Done() }

// Release ends the claim. The last claim of an owner admits the next fork; the last
// claim of all ends the hold.
func (h *Handle) Release() error { return h.release(awaited) }

// ReleaseAsync is Release that does not wait for the server.
func (h *Handle) ReleaseAsync() error { return h.release(sent) }

func (h *Handle) release(how removal) error {
	if !h.hold.dismiss(h) {
		return releasedError{h.hold}
	}
	return h.leave(how)
}

// leave is the rest of a release, after dismiss. Work under the claim ends before the
// claim does, and with it before another fork or client is admitted.
func (h *Handle) leave(by removal) error {
	how := released
	if h.hold.Loss() != nil {
		how = lost
	}
	h.end(how)
	h.hold.noteCutShort(by)
	if !h.hold.endClaim(h.owner) || h.hold.admitNext(h.owner) {
		return h.hold.Loss() // not the error of the last release, in another goroutine
	}
	return h.hold.close(by)
}

// end says that the claim is over. It is idempotent.
func (h *Handle) end(how end) {
	h.mu.Lock()
	cancel := h.cancel
	h.ended = cmp.Or(h.ended, how)
	h.mu.Unlock()
	if cancel != nil {
		cancel(h.hold.reason(how))
	}
	h.over.Give()
}

// reason returns why a claim has ended.
func (h *Hold) reason(how end) error {
	if how == lost {
		return h.lossNow()
	}
	return releasedError{h}
}
