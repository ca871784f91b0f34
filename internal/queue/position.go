package queue

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Position is one node of a queue, in one session. It is for one goroutine. It
// reports facts; its caller decides how long that may take, and what to do.
type Position struct {
	queue   *Queue
	client  *framework.Client // pinned to session
	session *framework.Session
	seen    *Seen

	joined              context.Context // with which it was created
	path                string
	self                znode.Name
	id                  protection.ID
	token               int64 // czxid
	ownWatch            *framework.Watch
	ownLife             *lifetime       // of each ownWatch
	broken              <-chan struct{} // closed if the connection broke since ownWatch was asked for
	revocationRequested bool            // when ownWatch was set
	unconfirmed         <-chan struct{} // broken, if an event admitted the position
}

// Position returns a position in a session, which has no node before Join. It records
// what it reads in seen.
func (q *Queue) Position(s *framework.Session, seen *Seen) *Position {
	return &Position{queue: q, client: q.Client.In(s), session: s, seen: seen}
}

// Name returns that of the node.
func (p *Position) Name() znode.Name { return p.self }

// Path returns that of the node.
func (p *Position) Path() string { return p.path }

// Token returns the node's czxid.
func (p *Position) Token() int64 { return p.token }

// RevocationRequested reports whether the data of the node, when it was last read,
// requested revocation.
func (p *Position) RevocationRequested() bool { return p.revocationRequested }

// Unconfirmed is closed if the connection has broken since an event admitted the
// position: another server may not know that change yet, nor earlier ones. It is nil if
// a listing admitted it: the session attaches to no server that is behind a listing.
func (p *Position) Unconfirmed() <-chan struct{} { return p.unconfirmed }

// Join creates the node at the end of the queue, and lists the children behind it. The
// listing is nil if it is unknown. On failure no node remains, or it is being deleted.
func (p *Position) Join(ctx context.Context) (listing []string, err error) {
	err = kit.Of(p.client).WithParents(ctx, p.queue.Path, func() (err error) {
		listing, err = p.create(ctx, p.queue.Kind, framework.EphemeralSequential)
		return err
	})
	if err != nil {
		return nil, err
	}
	var ok bool
	if p.self, ok = znode.Parse(path.Base(p.path), p.queue.Kinds...); !ok || !p.self.Ordered() {
		p.Leave()
		return nil, lease.ErrSequenceExhausted
	}
	return listing, nil
}

// JoinAt is Join with a given number, in a queue whose parent exists.
func (p *Position) JoinAt(ctx context.Context, number string) (listing []string, err error) {
	return p.create(ctx, p.queue.Kind+number, framework.Ephemeral)
}

func (p *Position) create(ctx context.Context, name string, mode framework.Mode) (children []string, err error) {
	p.joined = ctx
	made, listing, err := kit.Of(p.client).CreateListed(ctx, p.queue.Node(name), p.queue.Data(), mode)
	if err != nil {
		return nil, err
	}
	p.path, p.token = made.Path, made.Czxid
	p.id, _ = protection.Of(path.Base(made.Path))
	p.seen.Unlisted = listing.Err
	if errors.Is(listing.Err, framework.ErrReplyTooLarge) {
		p.Leave()
		return nil, listing.Err // the next listing would be too large as well
	}
	return listing.Children, nil
}

// Ahead returns the contenders ahead, and the listing that shows them: the given one,
// from the create, if it shows the own node, and otherwise a new one. It returns
// ErrEvicted if that does not show it either.
func (p *Position) Ahead(ctx context.Context, listing []string) (ahead []znode.Name, children []string, err error) {
	ahead, present := p.split(listing)
	if present {
		return ahead, listing, nil
	}
	// There is no listing, or it may have overtaken the create.
	if listing, _, err = znode.Children(ctx, p.client, p.queue.Path); err != nil {
		return nil, nil, err
	}
	if ahead, present = p.split(listing); !present { // also without a parent, which is deleted after its children only
		return nil, nil, ErrEvicted
	}
	return ahead, listing, nil
}

// split finds the own node in a listing and returns the contenders ahead of it. A
// second node with the own id can only come from a create that was taken for dropped
// and was carried out after all; it is deleted.
func (p *Position) split(children []string) (ahead []znode.Name, present bool) {
	for _, name := range p.queue.Among(children) {
		switch {
		case name.Node == p.self.Node:
			present = true
		case p.id != "" && p.id.Marks(name.Node):
			kit.Of(p.client).DeleteInBackground(p.queue.Node(name.Node))
		case name.Before(p.self):
			ahead = append(ahead, name)
		}
	}
	return ahead, present
}

// DetachWatch returns the watch on the own node, nil if there is none, to the hold. Two
// deletions in one transaction come as two events: the first may have admitted the
// position, and the second, of its own node, must not be missed then.
func (p *Position) DetachWatch() hold.Watch {
	if p.ownWatch == nil || !p.ownLife.detach() {
		return nil
	}
	return detachedWatch{p.session, p.ownWatch, p.ownLife.cancel}
}

// A detachedWatch gives its event to a function.
type detachedWatch struct {
	session *framework.Session
	watch   *framework.Watch
	cancel  context.CancelFunc
}

// Take has the event given to notify.
func (w detachedWatch) Take(notify func(framework.Event)) (before framework.Event, fired bool) {
	select {
	case ev := <-w.watch.Events():
		return ev, true
	default:
	}
	w.session.Go(func(context.Context) {
		if ev, ok := <-w.watch.Events(); ok {
			notify(ev)
		}
	})
	return framework.Event{}, false
}

// Stop ends the watch.
func (w detachedWatch) Stop() { w.cancel() }

// leaveLimit is how long a caller that gives up waits for the deletion of its node to
// be confirmed. The background continues without it.
const leaveLimit = 50 * time.Millisecond

// Leave deletes the node. It does not end with the context of the wait.
func (p *Position) Leave() { Leave(p.joined, p.client, p.path) }

// Leave deletes nodes of the session that the client is pinned to. It does not end with
// ctx.
func Leave(ctx context.Context, client *framework.Client, paths ...string) {
	session := client.Session()
	if session.Err() != nil {
		return
	}
	ctx, cancel := hold.RemovalContext(ctx, session, leaveLimit)
	defer cancel()
	for _, path := range paths[1:] {
		kit.Of(client).DeleteInBackground(path)
	}
	_ = client.DeleteGuaranteed(ctx, paths[0]) // the background deletes what is uncertain
}
