package acquire

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// MayGoTogether reports whether these slots may be acquired in one transaction: of one
// client, each a position in a queue, and with a context that owns nothing.
func MayGoTogether(ctx context.Context, recipes []*Recipe) bool {
	for range owner.Claims[*hold.Handle](ctx) {
		return false // it may re-enter
	}
	first := recipes[0].Client
	for _, r := range recipes {
		c := r.Client
		if r.Queue == nil || !kit.Of(first).SameClient(c) || first.FullPath("/") != c.FullPath("/") || first.Session() != c.Session() {
			return false
		}
	}
	return first.Reachable() == nil
}

// Together acquires the slots of recipes that may go together, with one transaction, if
// all are free, within a timeout that is not much longer than that takes. Each lease is
// acquired with the context of the one before. On failure none of its nodes remains, or
// they are being deleted. It waits for no other contender, and returns a
// queue.ErrNotFree if there is one. The ranks are those of the tokens.
func Together(ctx context.Context, recipes []*Recipe, ranks []int, timeout time.Duration) (*lease.Lease, error) {
	first := recipes[0]
	limit := first.atOnceLimit()
	if timeout > 0 {
		limit = min(limit, timeout)
	}
	w := first.begin(ctx, limit)
	defer w.end()
	session := first.Client.Session()
	if session == nil {
		return nil, framework.ErrNotConnected
	}
	positions := make([]*queue.Position, len(recipes))
	for i, r := range recipes {
		positions[i] = r.Queue.Position(kit.Of(r.Client).Within(session), &queue.Seen{})
	}
	if err := queue.JoinTogether(w.ctx, positions); err != nil {
		return nil, err
	}
	if err := awaitAllAdmitted(w.ctx, recipes, positions); err != nil {
		queue.LeaveTogether(w.ctx, positions)
		return nil, err
	}
	return grantAll(ctx, recipes, ranks, positions, timeout)
}

// awaitAllAdmitted waits until it is known of each position whether it is admitted.
func awaitAllAdmitted(ctx context.Context, recipes []*Recipe, positions []*queue.Position) error {
	for i, p := range positions {
		recipepath.WarnIfOpen(p.Client(), recipes[i].ProtectedNodes)
		if err := awaitAdmitted(ctx, p, nil, true); err != nil {
			return err
		}
	}
	if time.Since(positions[0].Made()) < hold.LookDelay {
		return nil
	}
	// The listing of one came late. Nothing watches the node of another yet.
	client := positions[0].Client()
	var exist []framework.Op
	for _, p := range positions {
		exist = append(exist, kit.Of(client).CheckExists(p.Path(), nil))
	}
	_, err := client.Multi(ctx, exist...)
	return err
}

// grantAll starts the holds of positions that are all admitted.
func grantAll(ctx context.Context, recipes []*Recipe, ranks []int, positions []*queue.Position, timeout time.Duration) (*lease.Lease, error) {
	all := new(hold.Several)
	for i, r := range recipes {
		l, err := r.grant(ctx, positions[i], timeout)
		if err == nil {
			_, err = all.Add(ctx, l, ranks[i])
		}
		if err != nil {
			all.Undo()
			if rest := positions[i+1:]; len(rest) > 0 {
				queue.LeaveTogether(ctx, rest)
			}
			return nil, err
		}
		ctx = l.Context() //nolint:fatcontext // they are few
	}
	return all.Lease(), nil
}

// grant is an Acquire that finds its slot free: only from here on observers are
// notified of it.
func (r *Recipe) grant(ctx context.Context, p *queue.Position, timeout time.Duration) (*lease.Lease, error) {
	return r.Observed(ctx, 1, timeout, func(ctx context.Context) (*lease.Lease, error) {
		w := r.begin(ctx, 0)
		defer w.end()
		w.try.Client, w.try.Session = p.Client(), p.Client().Session()
		return w.try.Grant(p)
	})
}
