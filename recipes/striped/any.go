package striped

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// AcquireAny waits up to timeout for any of the stripes, and returns its number as
// well, from 0 on. It is otherwise like the Acquire of all recipes, see lease.Acquirer,
// and also fails with ErrSizeMismatch. A context that owns a stripe re-enters that. A
// timeout of 0 or less acquires a stripe only if one is free now, and costs one read of
// each if none is. The order in which calls are granted is that of the queue at each
// stripe; see the package comment.
func (l *Locks) AcquireAny(ctx context.Context, timeout time.Duration) (held *lease.Lease, share int, err error) {
	if err := l.check(); err != nil {
		return nil, 0, err
	}
	held, err = l.recipe.Observed(ctx, 1, timeout, func(ctx context.Context) (held *lease.Lease, err error) {
		for share = range l.stripes {
			if held, err := l.stripes[share].recipe.Enter(ctx, timeout); held != nil || err != nil {
				return held, err
			}
		}
		return l.recipe.Take(ctx, timeout, func(ctx context.Context, t *acquire.Try) (held *lease.Lease, err error) {
			if err := l.begin(ctx, t); err != nil {
				return nil, err
			}
			c := call{l, t}
			if t.AtOnce {
				held, share, err = c.atOnce(ctx)
			} else {
				held, share, err = c.wait(ctx)
			}
			return held, err
		})
	})
	if err != nil {
		return nil, 0, err
	}
	return held, share, nil
}

// A call is a try of AcquireAny.
type call struct {
	*Locks
	try *acquire.Try
}

// queueAt has the try be for a share, and returns the queue of that.
func (c call) queueAt(share int) *queue.Queue {
	c.try.Slot = &c.stripes[share].recipe
	return c.stripes[share].queue
}

// wait waits at one share, and moves to another that it finds free.
func (c call) wait(ctx context.Context) (*lease.Lease, int, error) {
	at := c.shares.choose(c.try.Session.ID())
	p, err := c.try.Join(ctx, c.queueAt(at))
	if err != nil {
		c.shares.leave(at)
		return nil, 0, err
	}
	for {
		look, err := c.search.await(ctx, func(ctx context.Context) error { return c.try.AwaitPosition(ctx, p, nil) })
		if c.try.Seen.Waited {
			c.shares.wasBusy(at)
		}
		if !errors.Is(err, errLook) {
			if look {
				c.search.left()
			}
			if err != nil {
				c.try.GiveUp(p)
			}
			held, err := c.grant(p, at, err)
			return held, at, err
		}
		order, unused := c.shares.order(c.try.Session.ID())
		held, to, _ := c.takeFree(ctx, order[:min(unused, width)]) // if it fails, so does the wait
		c.search.looked(held != nil)
		if held != nil {
			c.shares.leave(at)
			p.Abandon()
			return held, to, nil
		}
	}
}

// atOnce takes a share that is free now.
func (c call) atOnce(ctx context.Context) (held *lease.Lease, at int, err error) {
	order, _ := c.shares.order(c.try.Session.ID())
	err = c.try.Recheck(ctx, c.recipe.Path, func() error {
		for some := range slices.Chunk(order, width) {
			if held, at, err = c.takeFree(ctx, some); held != nil || err != nil {
				return err
			}
		}
		return queue.ErrNotFree
	})
	return held, at, err
}

// takeFree takes the first of some shares that is free. It returns no lease, and no
// error, if none is.
func (c call) takeFree(ctx context.Context, shares []int) (_ *lease.Lease, at int, err error) {
	free, err := c.free(ctx, shares)
	for _, at := range free {
		c.shares.use(at)
		p, failed := c.try.JoinFree(ctx, c.queueAt(at))
		held, failed := c.grant(p, at, failed)
		switch {
		case failed == nil:
			return held, at, nil
		case errors.Is(failed, queue.ErrNotFree):
			c.shares.wasBusy(at)
		default:
			err = failed
		}
	}
	return nil, 0, err
}

// grant starts the hold of a position at a share that counts the call as a user, unless
// it was not admitted.
func (c call) grant(p *queue.Position, at int, err error) (held *lease.Lease, _ error) {
	if err == nil {
		c.queueAt(at)
		held, err = c.try.Grant(p)
	}
	if err != nil {
		c.shares.leave(at)
		return nil, err
	}
	hold.OnEnd(held, func() { c.shares.leave(at) })
	return held, nil
}

// width is how many shares are looked at in one round trip.
const width = 16

// free lists some shares, and returns those that have no contender.
func (c call) free(ctx context.Context, shares []int) (free []int, err error) {
	contenders, errs := make([][]znode.Name, len(shares)), make([]error, len(shares))
	var reads sync.WaitGroup
	for k, i := range shares {
		reads.Go(func() { contenders[k], errs[k] = c.stripes[i].queue.Names(ctx, c.try.Client) })
	}
	reads.Wait()
	for k, i := range shares {
		switch {
		case errs[k] != nil:
			err = errs[k]
		case len(contenders[k]) == 0:
			free = append(free, i)
		default:
			c.shares.wasBusy(i)
			if c.try.AtOnce {
				c.try.Seen.Record(c.stripes[i].queue.Path, contenders[k])
			}
		}
	}
	return free, err
}
