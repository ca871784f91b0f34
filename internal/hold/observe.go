package hold

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// observed notifies the client's observers that the hold starts, before anything can
// end it. It returns ctx with the values that they add; ownership remains that of ctx.
func (h *Hold) observed(ctx context.Context) context.Context {
	work, ended := kit.Of(h.Client).HoldStarted(ctx, framework.HoldInfo{
		Recipe: h.Key.Kind, Path: h.Key.Path, Node: h.Path, Permits: max(h.Permits, 1), Session: h.Session.ID(), Token: int64(h.Token),
	})
	if ended == nil {
		return ctx
	}
	h.work, h.ended = owner.Inherit(work, ctx), ended
	return h.work
}

// notifyLost notifies the observers that the hold is lost, unless it was released
// first. Only the table calls it, once, or Start if the hold is in none.
func (h *Hold) notifyLost() {
	var loss *lease.LossError
	h.mu.Lock()
	lost := errors.As(h.loss, &loss)
	h.mu.Unlock()
	if lost {
		h.notifyEnd(loss.Held, loss)
	}
}

func (h *Hold) notifyEnd(held time.Duration, err error) {
	if h.ended != nil {
		h.ended(framework.HoldEnd{Held: held, Err: err})
	}
}
