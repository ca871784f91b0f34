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
	"github.com/zkrecipes/zkrecipes/internal/lockdelay"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errWriterGone means that the writer's node was deleted before the downgrade was safe.
var errWriterGone = errors.New("the writer's znode is gone")

// downgrade gives the owner of a write lock the read lock, at the same point of the
// queue: behind the same contenders, before the same ones. It waits for no other
// client, and no writer that waits is admitted while either lock is held.
//
// The node has the number of the writer's, as with Apache Curator since CURATOR-621. A
// listing behind the create makes it safe: if the writer's node is in it, then the new
// node existed before the other was deleted, and any writer that waits for the other
// looks again when that is deleted: see package locks.
//
// The lease has the writer's token: the nodes of waiting writers are older than the new
// one.
//
// If the write lock is lost before the downgrade is safe, that is the error. If it is
// released, the caller owns nothing and waits like any other client.
func (s side) downgrade(ctx context.Context, timeout time.Duration, writing *hold.Hold) (*lease.Lease, error) {
	start := time.Now()
	pinned := s.recipe
	pinned.Client = pinned.Client.In(writing.Session())
	held, err := pinned.Take(ctx, timeout, func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		return s.takeDowngraded(ctx, t, writing)
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
	held, err = s.recipe.Take(ctx, acquire.Left(timeout, start), acquire.InQueue(s.recipe.Queue)) // it was released
	if late := (*lease.TimeoutError)(nil); timeout > 0 && errors.As(err, &late) {
		late.Waited = time.Since(start)
	}
	return held, err
}

// takeDowngraded takes the read lock, in the session of the write lock.
func (s side) takeDowngraded(ctx context.Context, t *acquire.Try, writing *hold.Hold) (*lease.Lease, error) {
	if !writing.KeepUntilDeleted() { // else the next writer would not see the reader's node
		return nil, errWriterGone
	}
	if err := lockdelay.Store(ctx, t.Client, s.recipe.Queue); err != nil {
		return nil, err
	}
	p := s.recipe.Queue.Position(t.Client, t.Seen)
	if err := s.joinAtWriter(ctx, t.Client, p, writing); err != nil {
		return nil, err
	}
	if writing.IsRecorded() {
		if err := lockdelay.Record(ctx, p); err != nil {
			p.Leave(ctx)
			return nil, err
		}
	}
	grant := hold.Grant{Path: p.Path(), Token: writing.Token(), Czxid: p.Token(), Recorded: p.Record() != ""}
	if err := t.Rely(&grant); err != nil {
		p.Unrecord()
		return nil, err
	}
	if err := writing.Loss(); err != nil { // too late
		grant.Reliance.End()
		p.Leave(ctx)
		return nil, err
	}
	return outliving(t.Work, writing, func(ctx context.Context) (*lease.Lease, error) { return t.Start(ctx, grant), nil })
}

// joinAtWriter creates the node, and makes sure that the writer's node stood then. On
// failure no node stays, or it is being removed.
func (s side) joinAtWriter(ctx context.Context, c *framework.Client, p *queue.Position, writing *hold.Hold) error {
	other := path.Base(writing.Path())
	err := p.JoinAt(ctx, other[max(0, len(other)-znode.SequenceDigits):])
	if err == nil {
		if err = s.checkWriter(ctx, c, path.Base(p.Path()), other); err != nil {
			p.Leave(ctx)
		}
	}
	if errors.Is(err, framework.ErrNoNode) { // of the parent, which is deleted after its children only
		err = errWriterGone
	}
	if errors.Is(err, errWriterGone) {
		writing.MarkDeleted()
	}
	return err
}

// checkWriter fails unless a listing shows both nodes.
func (s side) checkWriter(ctx context.Context, c *framework.Client, own, other string) error {
	children, _, err := c.Children(ctx, s.recipe.Queue.Path)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains(children, other):
		return errWriterGone
	case !slices.Contains(children, own):
		return queue.ErrEvicted
	}
	return nil
}

// outliving calls read for an owner of the write lock, if it is one: the release of the
// write lease, or of a re-entered one, does not end the context of the read lease.
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
