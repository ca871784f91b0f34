package rwlock

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errWriterGone means that the writer's node, to take a place beside, has gone.
var errWriterGone = errors.New("the znode to stand beside has gone")

// downgrade takes a place for the owner of a write lock who reads, right where that one
// is: behind the same contenders, before the same ones. Nobody has to be waited for,
// and nobody who waits for the write lock's end is let in as long as either is held.
//
// The node's number is that of the writer's, as with Apache Curator since CURATOR-621.
// What makes it safe is a listing behind the create: if the writer's node is in it then
// the new one was there before the other went, and any writer that it kept out looks
// again when it has gone: see package locks.
//
// The place has the writer's token: writers who wait already have nodes that are older
// than this one.
//
// If the write lock is lost before the place is safe, that is the error. If it is
// released, who comes is a stranger and waits like one.
func (s side) downgrade(ctx context.Context, timeout time.Duration, writing *hold.Hold) (*lease.Lease, error) {
	start := time.Now()
	beside := s.recipe
	beside.Client = beside.Client.In(writing.Session)
	held, err := beside.Take(ctx, timeout, func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		return s.takeBeside(ctx, t, writing)
	})
	lost := writing.Loss()
	switch {
	case err == nil:
		return held, nil
	case lost != nil:
		return nil, s.recipe.Failed(lost)
	case errors.Is(err, lease.ErrTimeout), !errors.Is(err, errWriterGone) && !errors.Is(err, framework.ErrSessionLost):
		return nil, err
	}
	if timeout > 0 && timeout != lease.Forever {
		timeout = max(timeout-time.Since(start), 1)
	}
	held, err = s.recipe.Take(ctx, timeout, acquire.InQueue(s.queue)) // it was released
	if late := (*lease.TimeoutError)(nil); timeout > 0 && errors.As(err, &late) {
		late.Waited = time.Since(start)
	}
	return held, err
}

// takeBeside takes the place, in the session of the write lock.
func (s side) takeBeside(ctx context.Context, t *acquire.Try, writing *hold.Hold) (*lease.Lease, error) {
	p := s.queue.Position(t.Session, t.Seen)
	if err := s.joinBeside(ctx, t.Client, p, writing); err != nil {
		return nil, err
	}
	grant := hold.Grant{Path: p.Path(), Token: writing.Token, Czxid: p.Token()}
	if err := t.Rely(&grant); err != nil {
		return nil, err
	}
	if err := writing.Loss(); err != nil { // the place is safe, but not wanted
		grant.Reliance.End()
		p.Leave()
		return nil, err
	}
	return outliving(t.Work, writing, func(ctx context.Context) (*lease.Lease, error) { return t.Start(ctx, grant), nil })
}

// joinBeside creates the node, and makes certain that the other one stood then. On
// failure no node stays, or it is being removed.
func (s side) joinBeside(ctx context.Context, c *framework.Client, p *queue.Position, writing *hold.Hold) error {
	other := path.Base(writing.Path)
	children, err := p.JoinAt(ctx, other[max(0, len(other)-znode.SequenceDigits):])
	if err == nil {
		if err = s.standsBeside(ctx, c, path.Base(p.Path()), other, children); err != nil {
			p.Leave()
		}
	}
	if errors.Is(err, framework.ErrNoNode) { // of the parent, which goes after its children only
		err = errWriterGone
	}
	if errors.Is(err, errWriterGone) {
		writing.MarkDeleted()
	}
	return err
}

// standsBeside finds out whether the other node is in a listing that shows the own one.
func (s side) standsBeside(ctx context.Context, c *framework.Client, own, other string, children []string) error {
	if !slices.Contains(children, own) { // it may have overtaken the create
		var err error
		if children, _, err = c.Children(ctx, s.queue.Path); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains(children, other):
		return errWriterGone
	case !slices.Contains(children, own):
		return queue.ErrEvicted
	}
	return nil
}

// outliving makes a reader of who may own a write lock: the release of that one, also
// of a further claim on it, does not end the context of the held.
func outliving(ctx context.Context, writing *hold.Hold, read func(ctx context.Context) (*lease.Lease, error)) (*lease.Lease, error) {
	if writing == nil {
		return read(ctx)
	}
	outlived, done := writing.Outlive(ctx)
	held, err := read(outlived)
	if held == nil {
		done()
		return nil, err
	}
	context.AfterFunc(held.Context(), done)
	return held, nil
}
