package hold

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// observers are those of a client, for one hold.
type observers struct {
	work  context.Context         // of the first lease
	ended func(framework.HoldEnd) // notifies them of the end
}

// observed notifies the client's observers that the hold starts, before anything can
// end it. It returns ctx with the values that they add; ownership remains that of ctx.
func (h *Hold) observed(ctx context.Context, g *Grant) context.Context {
	work, ended := kit.Of(h.client).HoldStarted(ctx, framework.HoldInfo{
		Recipe: h.kind, Path: cmp.Or(g.Of, h.recipe), Lock: h.recipe, Node: g.Path, Permits: max(g.Permits, 1), Session: g.Session.ID(), Token: int64(h.token),
	})
	if ended == nil {
		return ctx
	}
	for f, before := followingOf(work), followingOf(ctx); f != nil && f != before; f = f.before {
		f.follow(h)
	}
	h.observers = &observers{owner.Inherit(work, ctx), ended}
	return h.observers.work
}

// notifyLost notifies the observers that the hold is lost, unless it was released
// first. Only the table calls it, once, or Start if the hold is in none.
func (h *Hold) notifyLost() {
	var loss *lease.LossError
	h.mu.Lock()
	lost := h.loss != nil && errors.As(h.loss.why, &loss)
	h.mu.Unlock()
	if lost {
		h.notifyEnd(loss.Held, loss)
	}
}

func (h *Hold) notifyEnd(held time.Duration, err error) {
	if h.observers != nil {
		h.observers.ended(framework.HoldEnd{Held: held, Err: err})
	}
}
