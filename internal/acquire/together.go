package acquire

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// CanGoTogether reports whether these are several slots that can be acquired in one
// transaction: of one client, which names nodes alike, and each a position in a queue
// without a lock-delay.
func CanGoTogether(recipes []*Recipe) bool {
	for _, r := range recipes {
		first := recipes[0].Client
		if r.Queue == nil || r.Queue.LockDelay > 0 || !kit.Of(first).SameClient(r.Client) || first.FullPath("/") != r.Client.FullPath("/") {
			return false
		}
	}
	return len(recipes) > 1
}

// MayGoTogether reports whether slots that can go together may do so now: with a
// context that owns nothing, and in one session.
func MayGoTogether(ctx context.Context, recipes []*Recipe) bool {
	if hold.Owns(ctx) {
		return false // it may re-enter
	}
	first := recipes[0].Client
	for _, r := range recipes {
		if first.Session() != r.Client.Session() {
			return false
		}
	}
	return first.Reachable() == nil
}

// Together acquires the slots of recipes that may go together, with one transaction, if
// all are free, within a timeout, which is positive, and not much longer than that
// takes. Each lease is acquired with the context of the one before. On failure none of
// its nodes remains, or they are being deleted. It waits for no other contender, and
// returns a queue.ErrNotFree if there is one. The ranks are those of the tokens.
func Together(ctx context.Context, recipes []*Recipe, ranks []int, timeout time.Duration) (*lease.Lease, error) {
	first, session := recipes[0], recipes[0].Client.Session()
	if session == nil {
		return nil, framework.ErrNotConnected
	}
	j := joint{recipes: recipes, ranks: ranks, timeout: timeout, start: time.Now()}
	w := first.begin(ctx, min(first.atOnceLimit(), timeout))
	defer w.end()
	for _, r := range recipes {
		j.positions = append(j.positions, r.Queue.Position(kit.Of(r.Client).Within(session), &queue.Seen{}))
	}
	if err := queue.JoinTogether(w.ctx, j.positions); err != nil {
		return nil, err
	}
	if err := j.awaitAdmitted(w.ctx); err != nil {
		queue.LeaveTogether(w.ctx, j.positions)
		return nil, err
	}
	return j.grant(ctx)
}

// A joint is one call of Together.
type joint struct {
	recipes   []*Recipe
	ranks     []int
	timeout   time.Duration
	start     time.Time
	positions []*queue.Position // of the recipes
	known     time.Time         // when all nodes existed
}

// awaitAdmitted waits until it is known of each position whether it is admitted.
func (j *joint) awaitAdmitted(ctx context.Context) error {
	for i, p := range j.positions {
		recipepath.WarnIfOpen(p.Client(), j.recipes[i].ProtectedNodes)
		if err := awaitAdmitted(ctx, p, nil, true, nil); err != nil {
			return err
		}
	}
	j.known = j.positions[0].Made()
	return j.stand(ctx, 0)
}

// stand fails unless the nodes from an index on exist. Nothing watches them yet. So
// they are asked for if that is not known from just now: because the listing of one
// came late, or a quorum had to vouch for another.
func (j *joint) stand(ctx context.Context, from int) error {
	if time.Since(j.known) < hold.LookDelay {
		return nil
	}
	var nodes []string
	for _, p := range j.positions[from:] {
		nodes = append(nodes, p.Path())
	}
	j.known = time.Now()
	return stand(ctx, j.positions[0].Client(), nodes...)
}

// grant starts the holds of positions that are all admitted.
func (j *joint) grant(ctx context.Context) (*lease.Lease, error) {
	all := new(hold.Several)
	for i := range j.positions {
		l, err := j.grantNext(ctx, i)
		if err == nil {
			_, err = all.Add(ctx, l, j.ranks[i])
		}
		if err != nil {
			all.Undo()
			if rest := j.positions[i+1:]; len(rest) > 0 {
				queue.LeaveTogether(ctx, rest)
			}
			return nil, err
		}
		ctx = l.Context() //nolint:fatcontext // they are few
	}
	return all.Lease(), nil
}

// grantNext is an Acquire that finds its slot free: only from here on observers are
// notified of it.
func (j *joint) grantNext(ctx context.Context, i int) (*lease.Lease, error) {
	r, p := j.recipes[i], j.positions[i]
	return r.Observed(ctx, 1, j.timeout, func(ctx context.Context) (*lease.Lease, error) {
		w := r.begin(ctx, Left(j.timeout, j.start))
		defer w.end()
		if err := j.stand(w.ctx, i); err != nil {
			p.Leave(w.ctx)
			return nil, err
		}
		w.try.Client, w.try.Session = p.Client(), p.Client().Session()
		w.seen.Record(r.Queue.Path, nil)
		return w.try.Grant(p)
	})
}
