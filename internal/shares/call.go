package shares

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A call is one try to take any share.
type call struct {
	*Shares
	try *acquire.Try
}

// queueAt has the try be for a share, and returns the queue of that.
func (c call) queueAt(share int) *queue.Queue {
	c.try.Slot = c.slots[share].Recipe
	return c.slots[share].Queue
}

// wait waits at one share, and moves to another if a look shows that it should.
func (c call) wait(ctx context.Context) (*lease.Lease, int, error) {
	for at := c.known.choose(c.try.Session.ID()); ; {
		p, err := c.try.Join(ctx, c.queueAt(at))
		if err != nil {
			c.known.leave(at)
			return nil, 0, err
		}
		held, to, err := c.waitAt(ctx, p, at)
		if held != nil || err != nil {
			return held, to, err
		}
		at = to
	}
}

// waitAt waits at one share. It moves to another that is free; if it is to wait at
// another one, it returns that, no lease, and no error.
func (c call) waitAt(ctx context.Context, p *queue.Position, at int) (*lease.Lease, int, error) {
	c.search.hasten()
	for {
		look, err := c.search.await(ctx, func(ctx context.Context) error { return c.try.AwaitPosition(ctx, p, nil) })
		if c.try.Seen.Waited {
			c.known.wasBusy(at)
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
		held, to, moves := c.look(ctx, at)
		c.search.looked(moves)
		if moves {
			c.known.leave(at)
			p.Abandon()
			return held, to, nil
		}
	}
}

// look looks for another share than the one where the call waits: for one that is free,
// which it takes, or else for one to wait at, because the holder here hangs. If it
// fails, so does the wait.
func (c call) look(ctx context.Context, at int) (held *lease.Lease, to int, moves bool) {
	c.try.Seen.Notify() // that this is due
	order := slices.DeleteFunc(c.known.order(c.try.Session.ID()), func(i int) bool { return i == at })
	held, to, _ = c.takeFree(ctx, append(order[:min(len(order), width)], at))
	if held != nil {
		return held, to, true
	}
	to, moves = c.known.better(at)
	return nil, to, moves
}

// atOnce takes a share that is free now.
func (c call) atOnce(ctx context.Context) (held *lease.Lease, at int, err error) {
	order := c.known.order(c.try.Session.ID())
	err = c.try.Recheck(ctx, c.path, func() error {
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
		c.known.use(at)
		p, failed := c.try.JoinFree(ctx, c.queueAt(at))
		held, failed := c.grant(p, at, failed)
		switch {
		case failed == nil:
			return held, at, nil
		case errors.Is(failed, queue.ErrNotFree):
			c.known.wasBusy(at)
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
		c.known.leave(at)
		return nil, err
	}
	hold.OnEnd(held, func() {
		c.known.leave(at)
		c.search.hasten()
	})
	return held, nil
}

// width is how many shares are looked at in one round trip.
const width = 16

// free lists some shares, and returns those that have no contender.
func (c call) free(ctx context.Context, shares []int) (free []int, err error) {
	contenders, errs := make([][]znode.Name, len(shares)), make([]error, len(shares))
	var reads sync.WaitGroup
	for k, i := range shares {
		reads.Go(func() { contenders[k], errs[k] = c.slots[i].Queue.Names(ctx, c.try.Client) })
	}
	reads.Wait()
	for k, i := range shares {
		switch {
		case errs[k] != nil:
			err = errs[k]
		case len(contenders[k]) == 0:
			free = append(free, i)
		case c.try.AtOnce:
			c.try.Seen.Record(c.slots[i].Queue.Path, contenders[k])
		}
		c.known.saw(i, contenders[k])
	}
	return free, err
}
