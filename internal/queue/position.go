package queue

import (
	"context"
	"path"
	"slices"
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
	view    *view // nil when the wait is over
	wake    chan struct{}

	path       string
	recordedAt string // the path of its record as a holder; "" without one
	self       znode.Name
	token      int64     // the czxid, by the answer to the create
	made       time.Time // when the create was answered

	// Guarded by view.mu.
	sent, answered uint64 // when the create was, the last attempt
	evicted        bool   // its node is deleted
	ended          bool   // so is its wait
	*awaiting             // nil while the position stands behind the front of the crowd

	front bool  // it has come to the front of the crowd, where it stays
	ahead int32 // of it in the last listing, -1 if none has shown it; guarded by view.crowd.mu
}

// awaiting is what a position of the front waits for, and knows of that. There are many
// behind the front, which have none.
type awaiting struct {
	rest        *time.Timer     // until it reads what it waits for; nil: it has not rested
	unconfirmed <-chan struct{} // closed if the connection broke, if a deletion admitted the position
	admission   *admission      // nil if it is not to be remembered

	// Guarded by view.mu.
	node                *node // its own; nil until it waits for others
	read                int64 // the token by a read of that, 0 if there was none
	waits               []*node
	basis               uint64 // the listing by which it waits
	stoodBehind         bool   // it has stood behind the front, maybe longer than the listing is there
	admissible          bool   // but for the watch on its node
	unlisted            bool   // the last one that it has waited for has failed
	missing             bool   // a listing does not show its node any more
	failed              error  // a request that it needs has
	passed              any    // by the one directly ahead
	lookDue             bool   // its dependency is to be looked at again
	revocationRequested bool   // by the data of its node when that was last read
	stepsBack           bool   // so is that it joins again
}

// Position returns a position in the session that the client is pinned to, which has no
// node before Join. It records what it reads in seen.
func (q *Queue) Position(client *framework.Client, seen *Seen) *Position {
	s := client.Session()
	return &Position{queue: q, client: client, session: s, seen: seen, awaiting: new(awaiting), ahead: -1}
}

// Client returns the one that is pinned to its session.
func (p *Position) Client() *framework.Client { return p.client }

// Queue returns the one that it is in.
func (p *Position) Queue() *Queue { return p.queue }

// Name returns that of the node.
func (p *Position) Name() znode.Name { return p.self }

// Path returns that of the node.
func (p *Position) Path() string { return p.path }

// Made returns when the create of the node was answered.
func (p *Position) Made() time.Time { return p.made }

// Created returns the node's czxid, by the answer to the create.
func (p *Position) Created() int64 { return p.token }

// Token returns the node's czxid, as it was last read. It is called when the wait is
// over.
func (p *Position) Token() int64 {
	if p.awaiting != nil && p.read != 0 {
		return p.read
	}
	return p.token
}

// RevocationRequested reports whether the data of the node, when it was last read,
// requested revocation. It is called when the wait is over.
func (p *Position) RevocationRequested() bool { return p.revocationRequested }

// Unconfirmed is closed if the connection has broken since a deletion admitted the
// position: another server may not know that change yet, nor earlier ones. It is nil if
// a listing admitted it: the session attaches to no server that is behind a listing.
func (p *Position) Unconfirmed() <-chan struct{} { return p.unconfirmed }

// Join creates the node at the end of the queue, and has the children listed behind it.
// On failure no node remains, or it is being deleted.
func (p *Position) Join(ctx context.Context) error {
	p.begin()
	err := kit.Of(p.client).WithParents(ctx, p.queue.Path, func() error { return p.create(ctx) })
	if err != nil {
		p.End()
		return err
	}
	if !p.self.Ordered() {
		p.Leave(ctx)
		return lease.ErrSequenceExhausted
	}
	return nil
}

// begin begins the wait.
func (p *Position) begin() {
	p.wake = make(chan struct{}, 1)
	p.view = p.queue.use(p.client, p.session)
}

// create creates the node. A listing follows every attempt over the same connection, so
// that it costs no round trip of its own.
func (p *Position) create(ctx context.Context) error {
	v := p.view
	if err := p.mayJoin(ctx); err != nil {
		return err
	}
	defer func() { <-v.joins }()
	if err := p.fits(); err != nil {
		return err
	}
	made, err := kit.Of(p.client).CreateSent(ctx, p.queue.Node(p.queue.Kind), p.queue.Data(ctx), framework.EphemeralSequential, func() { p.onSent(v) }, v.flush)
	if err != nil {
		return err
	}
	p.onMade(made)
	p.announce(ctx)
	return nil
}

type joinedKey struct{}

// OnJoined returns a context for acquires: whenever one of them has made its node in a
// queue, joined is called with the path of that, on the goroutine of the acquire. It
// must return at once.
func OnJoined(ctx context.Context, joined func(node string)) context.Context {
	return context.WithValue(ctx, joinedKey{}, joined)
}

// announce calls the function of OnJoined, if there is one.
func (p *Position) announce(ctx context.Context) {
	if joined, ok := ctx.Value(joinedKey{}).(func(string)); ok {
		joined(p.path)
	}
}

// onSent is called when the create has its place among the requests of the connection.
func (p *Position) onSent(v *view) {
	v.mu.Lock()
	defer v.mu.Unlock() // nothing may be sent: see flush
	if p.ended {        // the caller has left
		return
	}
	p.sent = v.tick()
	if p.queue.HandsOver == nil || !v.crowd.isFull() {
		v.want(p, p.sent)
	}
}

// onMade is called when the create was answered.
func (p *Position) onMade(made framework.Created) {
	v := p.view
	p.path, p.token, p.made = made.Path, made.Czxid, time.Now()
	var ok bool
	if p.self, ok = znode.Parse(path.Base(made.Path), p.queue.Kinds...); !ok {
		p.self.Sequence = -1 // not ordered
	}
	v.mu.Lock()
	defer v.unlock()
	p.answered = v.tick()
	if id := protection.Cut(p.self.Node); id != "" {
		if v.own == nil {
			v.own = map[string]*Position{}
		}
		v.own[id] = p
	}
	if p.self.Ordered() {
		v.crowd.enter(p) // before another one may join: see contenders
	}
}

// JoinAt creates the node with a given number, in a queue whose parent exists. Such a
// position does not wait.
func (p *Position) JoinAt(ctx context.Context, number string) error {
	made, err := p.client.CreateProtected(ctx, p.queue.Node(p.queue.Kind+number), p.queue.Data(ctx), framework.Ephemeral)
	p.path, p.token = made.Path, made.Czxid
	return err
}

// notify wakes the position. It needs no lock.
func (p *Position) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// End ends the wait. It leaves the node as it is. It is idempotent.
func (p *Position) End() {
	v := p.view
	if v == nil {
		return
	}
	v.crowd.exit(p)
	p.view = nil
	v.mu.Lock()
	p.ended = true
	if p.rest != nil {
		p.rest.Stop()
	}
	p.waitAt(nil, false)
	delete(v.wanting, p)
	delete(v.own, protection.Cut(p.self.Node))
	delete(v.dependents, p)
	if p.node != nil {
		p.node.owner = nil
		v.dropUnused(p.node)
	}
	v.unlock()
	v.leave()
}

// waitAt has the position wait for these nodes only, and has them read, unless it
// rests. The caller has the lock.
func (p *Position) waitAt(nodes []*node, reads bool) {
	for _, n := range nodes {
		if !slices.Contains(p.waits, n) {
			n.waiters = append(n.waiters, p)
		}
		if reads {
			n.read(false)
		}
	}
	before := p.waits
	p.waits = nodes
	for _, n := range before {
		if !slices.Contains(nodes, n) {
			n.leave(p)
		}
	}
}

// DetachWatch ends the wait of a position that is admitted, and returns the watch on
// its own node for the hold, nil if none was set yet. It returns ErrEvicted if the node
// was deleted meanwhile: two deletions in one transaction come as two events, and the
// first may have admitted the position.
func (p *Position) DetachWatch() (hold.Watch, error) {
	defer p.End()
	p.view.mu.Lock()
	defer p.view.unlock()
	if p.HandsOver() {
		p.view.granted = p.self.Node
	}
	switch {
	case p.evicted:
		return nil, ErrEvicted
	case p.node == nil, p.node.watch == queued, p.node.watch == setting:
		return nil, nil
	}
	p.node.missed = false
	p.node.inherit(func(framework.Event) {})
	return p.node, nil
}
