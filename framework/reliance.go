package framework

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A Reliance says that work relies on nodes of a session. See [Client.Rely], which makes
// it; the zero value is of no use.
type Reliance struct {
	session *Session
	failed  chan error
	once    sync.Once

	entries []*list.Element // guarded by the table's mutex
}

// Rely says that work relies on nodes of the present session, or of that which the view
// is pinned to, as the work of a lock's holder does on its znode. From now until
// [Reliance.End] the session is trusted only as far as a quorum of the ensemble vouches
// for it: a leader that has lost its quorum, and need not know it, answers everything but
// transactions. While nothing else commits one, the client makes one every quarter of
// the session timeout and after every attachment, which checks that the nodes exist. It
// needs the permission to read them.
//
// If the newest transaction is older than half the timeout, one is made first and
// waited for. If it was older than five sixths of it when the present connection was made,
// that takes until about a third of the timeout after that. The error is then that of the transaction: an ErrNoNode if a node does
// not exist, ErrNoAuth if it may not be read. Rely also fails when ctx ends, with its
// cause, and when the session is over, with an ErrSessionLost. Recipes call it on a view
// that is pinned to the session that has made the nodes.
func (c *Client) Rely(ctx context.Context, nodes ...string) (*Reliance, error) {
	if len(nodes) == 0 {
		return nil, fmt.Errorf("%w: no node to rely on", ErrInvalidArgument)
	}
	s := c.pinned
	if s == nil {
		var err error
		if s, err = c.AwaitSession(ctx); err != nil {
			return nil, err
		}
	}
	pinned := c.In(s)
	for {
		err := cmp.Or(s.Err(), context.Cause(ctx))
		switch {
		case err != nil:
		case s.trust.rely(time.Now()):
			return pinned.reliance(nodes), nil
		case s.trust.isVouched(time.Now()):
			err = pinned.awaitTrips(ctx)
		default:
			err = pinned.makeVouch(ctx, nodes)
		}
		if err != nil {
			return nil, err
		}
	}
}

// reliance returns the one on nodes of a session that is relied on.
func (c *Client) reliance(nodes []string) *Reliance {
	s := c.pinned
	r := &Reliance{session: s, failed: make(chan error, 1)}
	s.relied.add(r, c, nodes)
	s.wake()
	return r
}

// awaitTrips waits until there may have been a round trip more.
func (c *Client) awaitTrips(ctx context.Context) error {
	ctx, cancel := c.lifetime(ctx)
	defer cancel()
	return retry.Sleep(ctx, c.pinned.Timeout()/24)
}

// makeVouch has a transaction committed, unless somebody else has meanwhile: many may be
// granted their places at once.
func (c *Client) makeVouch(ctx context.Context, nodes []string) error {
	s := c.pinned
	select {
	case s.relied.turn <- struct{}{}:
		defer func() { <-s.relied.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	if s.trust.isVouched(time.Now()) {
		return nil
	}
	checks := make([]Op, len(nodes))
	for i, node := range nodes {
		checks[i] = CheckOp(node, AnyVersion)
	}
	_, err := c.Multi(ctx, checks...)
	return err
}

// Failed tells, once, that a node does not exist any more (ErrNoNode), or may not be
// read any more (ErrNoAuth), so that it is not known whether it exists. It is not the
// quickest way to learn of that: a watch is.
func (r *Reliance) Failed() <-chan error { return r.failed }

// End says that nothing relies on the nodes any more. It is idempotent.
func (r *Reliance) End() {
	r.once.Do(func() {
		r.session.relied.remove(r)
		r.session.trust.leave(time.Now())
	})
}

// reliedNodes are all nodes of a session that work relies on, those first that have not
// been looked at for longest.
type reliedNodes struct {
	turn chan struct{} // who makes a transaction because the newest is too old holds it

	mu    sync.Mutex
	nodes list.List // of *reliedNode
}

type reliedNode struct {
	path     string // on the server
	reliance *Reliance
	entry    *list.Element // nil once nothing relies on it
}

func (t *reliedNodes) add(r *Reliance, c *Client, nodes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, node := range nodes {
		n := &reliedNode{path: c.full(node), reliance: r}
		n.entry = t.nodes.PushBack(n)
		r.entries = append(r.entries, n.entry)
	}
}

func (t *reliedNodes) remove(r *Reliance) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, entry := range r.entries {
		t.drop(entry.Value.(*reliedNode))
	}
}

func (t *reliedNodes) drop(n *reliedNode) {
	if n.entry != nil {
		t.nodes.Remove(n.entry)
		n.entry = nil
	}
}

// next returns the nodes whose turn it is, so many at most whose checks take so many
// bytes at most, but one at least if there are any.
func (t *reliedNodes) next(many, bytes int) []*reliedNode {
	t.mu.Lock()
	defer t.mu.Unlock()
	var turn []*reliedNode
	for range min(many, t.nodes.Len()) {
		n := t.nodes.Front().Value.(*reliedNode)
		if bytes -= checkBytes(n.path); bytes < 0 && len(turn) > 0 {
			break
		}
		t.nodes.MoveToBack(n.entry)
		turn = append(turn, n)
	}
	return turn
}

// fail tells who relies on a node that it cannot any more.
func (t *reliedNodes) fail(n *reliedNode, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n.entry == nil {
		return // it was let go, and removed
	}
	t.drop(n)
	select {
	case n.reliance.failed <- err:
	default: // it was told of another
	}
}
