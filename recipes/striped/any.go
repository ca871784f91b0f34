package striped

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// AcquireAny waits up to timeout for any of the stripes, and returns its number as
// well, from 0 on. It is otherwise like the Acquire of all recipes, see lease.Acquirer,
// and also fails with ErrSizeMismatch. A context that owns a stripe re-enters that; of
// several, the first. A timeout of 0 or less acquires a stripe only if one is free now,
// and costs one read of each if none is. The order in which calls are granted is that
// of the queue at each stripe; see the package comment. A TimeoutError is about the one
// where the call waited last.
func (l *Locks) AcquireAny(ctx context.Context, timeout time.Duration) (held *lease.Lease, share int, err error) {
	if err := l.check(); err != nil {
		return nil, 0, err
	}
	held, err = l.recipe.Observed(ctx, 1, timeout, func(ctx context.Context) (held *lease.Lease, err error) {
		if held, share, err = l.shares.Enter(ctx, timeout); held != nil || err != nil {
			return held, err
		}
		return l.recipe.Take(ctx, timeout, func(ctx context.Context, t *acquire.Try) (held *lease.Lease, err error) {
			if err = l.begin(ctx, t); err == nil {
				held, share, err = l.shares.Take(queue.Moving(ctx), t)
			}
			return held, err
		})
	})
	if err != nil {
		return nil, 0, err
	}
	return held, share, nil
}
