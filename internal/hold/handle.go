package hold

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/signal"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Handle is one claim on a hold, and implements lease.Claim, which says what its
// methods do.
type Handle struct {
	hold   *Hold
	owner  *claimant
	outer  context.Context // that it was made with
	ctx    context.Context
	cancel context.CancelCauseFunc
	over   signal.Signal // the claim was released or lost
}

// Context ends with the claim; its cause says why.
func (h *Handle) Context() context.Context { return h.ctx }

// Done is closed when the claim is over.
func (h *Handle) Done() <-chan struct{} { return h.over.Done() }

// Token returns the fencing token.
func (h *Handle) Token() lease.Token { return h.hold.Token }

// Path returns the znode as the client that acquired it names it.
func (h *Handle) Path() string { return h.hold.Path }

// TrustedUntil returns the time until which the hold is certain to stand if nothing
// more is heard from a server, as far as is known now, or was when it was lost.
func (h *Handle) TrustedUntil() time.Time {
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	if h.hold.loss != nil {
		return h.hold.trusted
	}
	return h.hold.trustedUntil()
}

// Err returns nil while the claim stands by the clock at this moment.
func (h *Handle) Err() error {
	h.hold.mu.Lock()
	_, open := h.hold.handles[h]
	h.hold.mu.Unlock()
	if !open {
		return releasedError{h.hold}
	}
	return h.hold.err()
}

// RevocationRequested is closed when revocation was requested.
func (h *Handle) RevocationRequested() <-chan struct{} { return h.hold.revocationRequested.Done() }

// Release gives the claim up, what its owner has of the place with the last one of that
// owner, and the place with the last of all.
func (h *Handle) Release() error {
	open, ended := h.hold.dismiss(h)
	if !open {
		return releasedError{h.hold}
	}
	defer h.end(releasedError{h.hold})
	if h.hold.err() == nil { // work under this claim must end before another client is admitted
		h.end(releasedError{h.hold})
	}
	if !ended || h.hold.admitNext(h.owner) {
		return h.hold.Loss() // not what another, which was the last, does meanwhile
	}
	return h.hold.close()
}

// end says that the claim is over. It is idempotent.
func (h *Handle) end(cause error) {
	h.cancel(cause)
	h.over.Give()
}

// Confirm asks the leader whether the znode stands.
func (h *Handle) Confirm(ctx context.Context) error {
	if err := h.Err(); err != nil {
		return err
	}
	var ops []framework.Op
	for _, path := range h.hold.paths() {
		ops = append(ops, kit.Of(h.hold.Client).CheckExists(path))
	}
	_, err := h.hold.Client.Multi(ctx, ops...)
	if errors.Is(err, framework.ErrNoNode) {
		h.hold.lose(lease.ErrDeleted)
	}
	if own := h.Err(); own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("confirm %s: %w", quote.Path(h.hold.Path), err)
	}
	return nil
}

// Check returns the operation that makes a Multi fail unless the znode stands.
func (h *Handle) Check() framework.Op { return kit.Of(h.hold.Client).CheckExists(h.hold.Path) }
