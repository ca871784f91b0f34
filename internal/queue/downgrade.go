package queue

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// AcquireBeside takes a place for the owner of another hold in the same line, right
// where that one is: behind the same contenders, before the same ones. It is for
// holders of a write lock who read. Nobody has to be waited for, and nobody who
// waits for the other hold's end is let in as long as either is held.
//
// The node's number is that of the other hold's, as with Apache Curator since
// CURATOR-621. What makes it safe is a listing behind the create: if the other
// node is in it then the new one was there before the other went, and any writer
// that it kept out looks again when it has gone.
//
// The place has the other's token: writers who wait already have nodes that are
// older than this one.
//
// If the other hold is lost before the place is safe, that is the error. If it is
// released, who comes is a stranger and waits like one.
func (q *Queue) AcquireBeside(ctx context.Context, timeout time.Duration, owner *hold.Hold) (*lease.Lease, error) {
	w, cancel := q.begin(ctx, timeout)
	defer cancel()
	for {
		handle, err := w.tryBeside(owner)
		if err == nil {
			return handle, nil
		}
		lost := owner.Loss()
		switch {
		case lost != nil:
			return nil, fmt.Errorf("acquire %s: %w", q.title(), lost)
		case w.ctx.Err() != nil:
			return nil, w.explain(err)
		case errors.Is(err, errOtherGone), errors.Is(err, framework.ErrSessionLost):
			return w.run() // it was released
		case errors.Is(err, ErrEvicted):
			// Somebody deleted the new node. The other one stands.
		default:
			return nil, w.explain(err)
		}
	}
}

// EnterBeside is Enter for who may own another hold, nil if not, from which the
// place was taken with AcquireBeside: the release of that one, also of a further
// claim on it, does not end the handle's context.
func (q *Queue) EnterBeside(ctx context.Context, timeout time.Duration, owner *hold.Hold) (*lease.Lease, error) {
	if owner == nil {
		return q.Enter(ctx, timeout)
	}
	outlived, done := owner.Outlive(ctx)
	handle, err := q.Enter(outlived, timeout)
	if handle == nil {
		done()
		return nil, err
	}
	context.AfterFunc(handle.Context(), done)
	return handle, nil
}

// errOtherGone means that the node to take a place beside has gone.
var errOtherGone = errors.New("the znode to stand beside has gone")

func (w *wait) tryBeside(owner *hold.Hold) (*lease.Lease, error) {
	q, session := w.queue, owner.Session
	p := &place{wait: w, queue: q, client: q.cfg.Client.In(session), session: session}
	if w.atOnce {
		select {
		case <-session.Suspended(): // it does not wait for a connection either
			return nil, ErrNotFree
		default:
		}
	}
	if err := p.joinBeside(w.ctx, owner); err != nil {
		return nil, err
	}
	grant := hold.Grant{
		Client: p.client, Session: session, Key: q.Key(),
		Path: p.path, Token: owner.Token, Czxid: p.token, MaxHold: q.cfg.MaxHold,
	}
	err := w.rely(&grant)
	if err == nil {
		if err = owner.Loss(); err != nil { // the place is safe, but not wanted
			grant.Reliance.End()
		}
	}
	if err != nil {
		p.leave()
		return nil, err
	}
	outlived, done := owner.Outlive(w.work)
	held := hold.Start(outlived, grant)
	context.AfterFunc(held.Context(), done)
	return held, nil
}

// joinBeside creates the node, and makes certain that the other one stood then. On
// failure no node stays, or it is being removed.
func (p *place) joinBeside(ctx context.Context, owner *hold.Hold) error {
	other := path.Base(owner.Path)
	name := p.queue.cfg.Kind + other[max(0, len(other)-znode.SequenceDigits):]
	made, err := p.client.CreateProtected(ctx, p.queue.node(name), p.queue.data(), framework.Ephemeral, framework.WithListing())
	if err == nil {
		p.path, p.token = made.Path, made.Czxid
		if err = p.wait.withoutListing(made.ListingErr); err == nil {
			err = p.standsBeside(ctx, other, made.Children)
		}
		if err != nil {
			p.leave()
		}
	}
	if errors.Is(err, framework.ErrNoNode) { // of the parent, which goes after its children only
		err = errOtherGone
	}
	if errors.Is(err, errOtherGone) {
		owner.Lost()
	}
	return err
}

// standsBeside finds out whether the other node is in a listing that shows the own
// one.
func (p *place) standsBeside(ctx context.Context, other string, children []string) error {
	own := path.Base(p.path)
	if !slices.Contains(children, own) { // it may have overtaken the create
		var err error
		if children, _, err = p.client.Children(ctx, p.queue.cfg.Path); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains(children, other):
		return errOtherGone
	case !slices.Contains(children, own):
		return ErrEvicted
	}
	return nil
}
