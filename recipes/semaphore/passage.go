package semaphore

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// ownChildren is how many children a semaphore's path has: one for the line and one for
// the permits. Who counts them is first in line, and nobody else makes the latter,
// while the former stands because of the node there. So if there are more, others are
// there: perhaps of another recipe.
const ownChildren = 2

// A room is what the first in line sees behind the door.
type room struct {
	made   bool         // whether there is one
	czxid  int64        // of it
	inside []znode.Name // the permits that are held
	leases *framework.Watch
	record
}

// behind looks behind the door, with watches if there was no room.
func (d *door) behind(ctx context.Context, c *framework.Client) (r room, err error) {
	sized := make(chan error, 1)
	go func() {
		var err error
		r.record, err = d.s.settle(ctx, c, d.full)
		sized <- err
	}()
	var children []string
	var stat framework.Stat
	if d.full {
		children, stat, r.leases, err = c.ChildrenWatch(ctx, d.s.leases())
	} else {
		children, stat, err = c.Children(ctx, d.s.leases())
	}
	sizeErr := <-sized
	switch {
	case sizeErr != nil:
		return r, sizeErr
	case errors.Is(err, framework.ErrNoNode):
		return r, fits(d.n, r.size)
	case err != nil:
		return r, err
	}
	r.made, r.czxid, r.inside = true, stat.Czxid, d.s.inside.Among(children)
	return r, fits(d.n, r.size)
}

// pass waits until there is room, and then makes the permits and removes the place in
// line, in one transaction. Whatever it fails with, no permit stays.
func (d *door) pass(ctx context.Context) ([]framework.Created, error) {
	d.hearsay = d.place.Unconfirmed()
	for {
		made, err := d.step(ctx)
		if made != nil || err != nil {
			return made, err
		}
	}
}

// step looks once, and takes the permits, or waits until another look is due, which is
// when it returns nothing.
func (d *door) step(ctx context.Context) ([]framework.Created, error) {
	round, cancel := context.WithCancel(ctx)
	defer cancel()
	c := d.try.Client
	r, err := d.behind(round, c)
	if err != nil {
		return nil, err
	}
	select {
	case <-d.hearsay:
		d.hearsay = nil
		return nil, c.Sync(ctx, d.s.recipe.Path)
	default:
	}
	d.try.Seen.Record(d.s.leases(), r.inside)
	switch {
	case !r.made:
		return nil, c.CreateParents(ctx, d.s.leases()+"/"+znode.Permit)
	case len(r.inside)+d.n <= r.size:
		if r.record.stat.NumChildren > ownChildren {
			if err := recipepath.CheckOthersAtSemaphore(ctx, c, d.s.recipe.Path, d.place.Path(), r.czxid); err != nil {
				return nil, err
			}
		}
		return d.take(ctx, r)
	case d.try.AtOnce:
		return nil, queue.ErrNotFree
	case !d.full:
		d.full = true
		return nil, nil
	}
	return nil, d.wait(ctx, r)
}

// take makes the permits. It returns nothing if another look is due.
func (d *door) take(ctx context.Context, r room) ([]framework.Created, error) {
	made, err := kit.Of(d.try.Client).CreateProtectedAll(ctx, d.s.leases()+"/"+znode.Permit, d.s.line.Data(), d.n,
		framework.DeleteOp(d.place.Path(), framework.AnyVersion),
		framework.CheckOp(d.s.recipe.Path, r.record.stat.Version))
	var op *framework.OpError
	switch {
	case framework.OutcomeOf(err) != framework.Failed:
		return made, err
	case errors.As(err, &op) && op.Path == d.place.Path() && errors.Is(err, framework.ErrNoNode):
		return nil, queue.ErrEvicted
	case errors.Is(err, framework.ErrNoNode), errors.Is(err, framework.ErrBadVersion):
		return nil, nil // the room was reaped, or the size has changed
	}
	return nil, err
}

// wait waits until there may be room. Whoever loses the place in line meanwhile should
// join again at once: without it there is nothing to wait for. What no event tells is
// found by another look: see hold.LookAgain.
func (d *door) wait(ctx context.Context, r room) error {
	if d.own == nil {
		data, _, own, err := d.try.Client.GetWatch(ctx, d.place.Path())
		if errors.Is(err, framework.ErrNoNode) {
			return queue.ErrEvicted
		} else if err != nil {
			return err
		}
		d.own = own
		d.asked = d.asked || znode.RevocationRequested(data)
	}
	evicted := false
	due, stop := hold.LookAgain(ctx, d.try.Session, d.place.Path(), func(ctx context.Context) bool {
		evicted = hold.Gone(ctx, d.try.Client, d.place.Path())
		return false
	})
	defer stop()
	select {
	case <-due:
		if evicted {
			return queue.ErrEvicted
		}
	case <-r.leases.Events():
	case <-r.record.watch.Events():
	case <-d.own.Events():
		d.own = nil // and look at it again
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
