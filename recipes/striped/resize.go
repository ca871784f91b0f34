package striped

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Resize changes the number of stripes, and returns the new ones, with the same
// options. It acquires all stripes, within the timeout, one after another, and holds
// them while the number changes: so it waits for all holders, and keeps new ones out
// meanwhile. Those who wait then, and all other values with the old number, this one as
// well, get ErrSizeMismatch from then on. If it fails, the number is as before, unless
// the error is a framework.ErrUnknownOutcome.
//
// Errors: those of Acquire, and framework.ErrInvalidArgument for a number that New
// refuses, and for a context that owns a stripe.
func (l *Locks) Resize(ctx context.Context, n int, timeout time.Duration) (*Locks, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	resized, err := New(l.recipe.Client, l.recipe.Path, n, l.opts...)
	if err != nil {
		return nil, err
	}
	all, err := New(l.recipe.Client, l.recipe.Path, len(l.stripes), append(slices.Clone(l.opts), WithMaxHold(0), WithMinHold(0))...)
	if err == nil {
		err = all.resize(ctx, n, timeout)
	}
	if err != nil {
		return nil, fmt.Errorf("resize %s to %d stripes: %w", quote.Path(l.recipe.Client.FullPath(l.recipe.Path)), n, err)
	}
	return resized, nil
}

func (l *Locks) resize(ctx context.Context, n int, timeout time.Duration) error {
	all, start, owns := new(hold.Several), time.Now(), ctx
	for i := range l.stripes {
		held, err := l.stripes[i].Acquire(owns, acquire.Left(timeout, start))
		first := false
		if err == nil {
			first, err = all.Add(owns, held, i)
		}
		if err == nil && !first {
			err = fmt.Errorf("%w: its context owns a stripe", framework.ErrInvalidArgument)
		}
		if err != nil {
			all.Undo()
			return err
		}
		owns = held.Context() //nolint:fatcontext // there are at most MaxStripes
	}
	all.KeepUntilDeleted()
	held := all.Lease()
	defer held.Release() // what it was needed for is done, or has failed
	return l.change(held, n)
}

// change stores another number, while all stripes are held. After an unknown outcome it
// looks what is stored: nobody else may change that.
func (l *Locks) change(held *lease.Lease, n int) (unknown error) {
	ctx, c, path := held.Context(), l.recipe.Client, l.recipe.Path
	for {
		data, stat, err := c.Get(ctx, path)
		if err != nil {
			return cmp.Or(unknown, err)
		}
		if stored, ok := znode.ParseStripes(data); ok && stored == n {
			return nil
		}
		if err := l.compare(data); err != nil {
			return err
		}
		_, err = c.Multi(ctx, held.Check(), framework.SetOp(path, znode.Stripes(n), stat.Version))
		switch {
		case err == nil:
			return nil
		case framework.OutcomeOf(err) == framework.Unknown:
			unknown = err
		case errors.Is(err, framework.ErrBadVersion): // of the attempt before, perhaps
		case errors.Is(err, framework.ErrNoNode): // another client has deleted one of the nodes
			return cmp.Or(unknown, held.Confirm(ctx), err)
		default:
			return cmp.Or(unknown, err)
		}
	}
}
