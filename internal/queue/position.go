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

// A Position is one node in line, in one session. It is for one goroutine. What it
// finds out are facts; how long that may take, and what becomes of them, is up to who
// drives it.
type Position struct {
	queue   *Queue
	client  *framework.Client // pinned to session
	session *framework.Session
	seen    *Seen

	joined              context.Context // that it was created with
	path                string
	self                znode.Name
	id                  protection.ID
	token               int64 // czxid
	ownWatch            *framework.Watch
	ownLife             *lifetime       // of each ownWatch
	broken              <-chan struct{} // closed if the connection broke since ownWatch was asked for
	revocationRequested bool            // to give way, when ownWatch was set
	unconfirmed         <-chan struct{} // broken, if an event was what admitted
}

// Position returns a place in a session, for somebody who has not joined yet. It takes
// down what it sees in seen.
func (q *Queue) Position(s *framework.Session, seen *Seen) *Position {
	return &Position{queue: q, client: q.Client.In(s), session: s, seen: seen}
}

// Name is that of the node.
func (p *Position) Name() znode.Name { return p.self }

// Path is that of the node.
func (p *Position) Path() string { return p.path }

// Token is the node's czxid.
func (p *Position) Token() int64 { return p.token }

// RevocationRequested reports whether the data of the node, when it was last read,
// asked its holder to give way.
func (p *Position) RevocationRequested() bool { return p.revocationRequested }

// Unconfirmed is closed if the connection has broken since an event admitted the place.
// Another server may not have heard of that yet, nor of what came before. It is nil if
// a listing did: such news no server is behind that the session can attach to.
func (p *Position) Unconfirmed() <-chan struct{} { return p.unconfirmed }

// Join creates the node at the end of the line, and lists the children behind it. The
// listing is nil if it is not known. On failure no node stays, or it is being removed.
func (p *Position) Join(ctx context.Context) (listing []string, err error) {
	for {
		listing, err = p.create(ctx, p.queue.Kind, framework.EphemeralSequential)
		if !errors.Is(err, framework.ErrNoNode) {
			break
		}
		// The parent does not exist yet, or was reaped since it did.
		if err := p.client.CreateParents(ctx, p.queue.Node(p.queue.Kind)); err != nil {
			return nil, err
		}
	}
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

// JoinAt is Join with a number that is given, in a line that there is.
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
		return nil, listing.Err // again
	}
	return listing.Children, nil
}

// Ahead returns the contenders ahead, by a listing, which it returns too. It uses the
// one that came with the create, if it is given that, and asks for another if not. If
// the own node is not there it returns ErrEvicted.
func (p *Position) Ahead(ctx context.Context, listing []string) (ahead []znode.Name, children []string, err error) {
	ahead, present := p.split(listing)
	if present {
		return ahead, listing, nil
	}
	// There is none, or it may have overtaken the create.
	if listing, _, err = znode.Children(ctx, p.client, p.queue.Path); err != nil {
		return nil, nil, err
	}
	if ahead, present = p.split(listing); !present { // also if there is no parent, which goes after its children only
		return nil, nil, ErrEvicted
	}
	return ahead, listing, nil
}

// split finds the own node in a listing and returns the contenders ahead of it. A
// second node under the own id can only come from a create that was given up for lost
// and carried out after all; it is removed.
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

// DetachWatch gives the watch on the own node, if there is one, to whoever looks after
// the place from now on, who ends it with the function. Two deletions in one
// transaction are told one after the other: the place may have been granted on the
// first, and the second, which is its own, must be heard then.
func (p *Position) DetachWatch() (*framework.Watch, context.CancelFunc) {
	if p.ownWatch == nil || !p.ownLife.detach() {
		return nil, nil
	}
	return p.ownWatch, p.ownLife.cancel
}

// leaveLimit is how long a caller that gives up waits for the confirmation that its
// node is gone. The background goes on without it.
const leaveLimit = 50 * time.Millisecond

// Leave removes the node. It does not end with the context of the wait.
func (p *Position) Leave() { Leave(p.joined, p.client, p.path) }

// Leave removes nodes that were made in the session which the client is pinned to. It
// does not end with ctx.
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
	_ = client.DeleteGuaranteed(ctx, paths[0]) // what is uncertain is pursued
}
