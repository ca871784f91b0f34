package semaphore

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// What makes the door safe. Let D be a node in line, and let L be the listing of the
// permits by which its owner finds that n more fit. The permits are then made by one
// transaction T, which also removes D and checks that the size has not changed.
//
//   - D stands from its creation to T, or T fails: it is never made twice.
//   - The listing L shows the permits as they were when D was first in line, or
//     later. Where a listing of the line said so, the session never again attaches to
//     a server that knows less. Where the end of the node ahead said so, and the
//     connection breaks before L is answered, the next server may know less: then
//     a sync and another look come first (Turn.Hearsay).
//   - Once first, D stays first while it stands: nodes in line have growing numbers.
//   - So between L and T nobody else can have made permits: he would need a node
//     in line that stands at his transaction and was first before it. Of two that
//     stand at the same time the one with the greater number was never first.
//   - So at T there are no more permits than L shows; those there are and the n fit
//     into the size, which is the one that is stored at T.
//
// A Java head of the line makes its permit before it knows that there is room,
// keeps its node in line, and counts all children: while there are too many it
// waits. With its node in line it is as good as one of us. It is not always: if
// somebody deletes that node, or Curator carries the create over into a new session,
// it makes a permit out of turn. It then counts it, and everything we have made, so
// it goes too far only if its create and its count fall between our L and T, which is
// one round trip. We could only see that by another listing after each T.
//
// Of the children behind the door, those count whose names end as a permit's do,
// whoever made them. Others are ignored, so that a stray node does not cost a permit
// for ever. Curator counts those as well, so it is never less careful than we are.

// A door lets the first in line in when there is room for its n permits.
type door struct {
	s *Semaphore
	n int
}

// Dir implements queue.Door.
func (d door) Dir() string { return d.s.leases() }

// Inside implements queue.Door.
func (d door) Inside(ctx context.Context, c *framework.Client) ([]znode.Name, error) {
	return d.s.inside.Names(ctx, c)
}

// Free implements queue.Door.
func (d door) Free(ctx context.Context, c *framework.Client) ([]znode.Name, error) {
	size, _, err := d.s.vet(d.n)(ctx, c, queue.Peek)
	if err != nil {
		return nil, err
	}
	inside, err := d.s.inside.Names(ctx, c)
	if err == nil && len(inside)+d.n > size {
		err = queue.ErrNotFree
	}
	return inside, err
}

// ownChildren is how many children a semaphore's path has: one for the line and one for
// the permits. Who counts them is first in line, and nobody else makes the latter, while
// the former stands because of the node there. So if there are more, others are there:
// perhaps of another recipe.
const ownChildren = 2

// A room is what the first in line sees behind the door.
type room struct {
	made   bool         // whether there is one
	czxid  int64        // of it
	inside []znode.Name // the permits that are held
	leases *framework.Watch
	size   int
	record record
}

// look looks behind the door, with watches or without.
func (d door) look(ctx context.Context, c *framework.Client, watch bool) (r room, err error) {
	sized := make(chan error, 1)
	go func() {
		var err error
		r.size, r.record, err = d.s.settle(ctx, c, watch)
		sized <- err
	}()
	var children []string
	var stat framework.Stat
	if watch {
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
	r.made, r.czxid, r.inside = true, stat.Czxid, d.s.inside.Parse(children)
	return r, fits(d.n, r.size)
}

// Pass implements queue.Door.
func (d door) Pass(ctx context.Context, t queue.Turn) ([]framework.Created, error) {
	p := passage{door: d, turn: t}
	for {
		made, err := p.try(ctx)
		if made != nil || err != nil {
			return made, err
		}
	}
}

// A passage is one Pass.
type passage struct {
	door
	turn  queue.Turn
	watch bool             // there was no room, so look with watches
	own   *framework.Watch // on the place in line
}

// try looks once, and takes the permits, or waits until another look is due, which
// is when it returns nothing.
func (p *passage) try(ctx context.Context) ([]framework.Created, error) {
	round, cancel := context.WithCancel(ctx)
	defer cancel()
	c := p.turn.Client
	r, err := p.look(round, c, p.watch)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.turn.Hearsay:
		p.turn.Hearsay = nil
		return nil, c.Sync(ctx, p.s.path)
	default:
	}
	p.turn.Note(r.inside)
	switch {
	case !r.made:
		return nil, c.CreateParents(ctx, p.s.leases()+"/"+znode.Permit)
	case len(r.inside)+p.n <= r.size:
		if r.record.stat.NumChildren > ownChildren {
			if err := queue.RefuseStrangers(ctx, c, p.s.path, p.turn.Node, r.czxid); err != nil {
				return nil, err
			}
		}
		return p.take(ctx, r)
	case p.turn.AtOnce:
		return nil, queue.ErrNotFree
	case !p.watch:
		p.watch = true
		return nil, nil
	}
	return nil, p.wait(ctx, r)
}

// take makes the permits. It returns nothing if another look is due.
func (p *passage) take(ctx context.Context, r room) ([]framework.Created, error) {
	made, err := p.turn.Client.CreateProtectedAll(ctx, p.s.leases()+"/"+znode.Permit, p.turn.Data, p.n,
		framework.DeleteOp(p.turn.Node, framework.AnyVersion),
		framework.CheckOp(p.s.path, r.record.stat.Version))
	var op *framework.OpError
	switch {
	case framework.OutcomeOf(err) != framework.Failed:
		return made, err
	case errors.As(err, &op) && op.Path == p.turn.Node && errors.Is(err, framework.ErrNoNode):
		return nil, queue.ErrEvicted
	case errors.Is(err, framework.ErrNoNode), errors.Is(err, framework.ErrBadVersion):
		return nil, nil // the room was reaped, or the size has changed
	}
	return nil, err
}

// wait waits until there may be room. Whoever loses the place in line meanwhile
// should join again at once: without it there is nothing to wait for. What no event tells
// is found by another look: see hold.LookAgain.
func (p *passage) wait(ctx context.Context, r room) error {
	if p.own == nil {
		data, _, own, err := p.turn.Client.GetWatch(ctx, p.turn.Node)
		if errors.Is(err, framework.ErrNoNode) {
			return queue.ErrEvicted
		} else if err != nil {
			return err
		}
		p.own = own
		p.turn.Heed(data)
	}
	due, evicted := make(chan struct{}), false
	defer hold.LookAgain(ctx, p.turn.Client.Session(), p.turn.Node, func(ctx context.Context) bool {
		evicted = hold.Gone(ctx, p.turn.Client, p.turn.Node)
		close(due)
		return false
	})()
	select {
	case <-due:
		if evicted {
			return queue.ErrEvicted
		}
	case <-r.leases.Events():
	case <-r.record.watch.Events():
	case <-p.own.Events():
		p.own = nil // and look at it again
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
