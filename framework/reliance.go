package framework

import (
	"cmp"
	"context"
	"sync"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A Reliance says that work relies on nodes of a session. See [Client.Rely], which
// makes it; the zero value is of no use.
type Reliance struct {
	failed chan error
	end    func()
	once   sync.Once
}

// Rely says that work relies on nodes of the present session, or of that which the view
// is pinned to, as the work of a lock's holder does on its znode. From now until
// [Reliance.End] the session is trusted only as far as a quorum of the ensemble vouches
// for it: a leader that has lost its quorum, and need not know it, answers everything
// but transactions. While nothing else commits one, the client makes one every quarter
// of the session timeout and after every attachment, which checks that the nodes exist.
// It needs the permission to read them.
//
// If the newest transaction is older than half the timeout, one is made first and
// waited for. If it was older than five sixths of it when the present connection was
// made, that takes until about a third of the timeout after that. The error is then
// that of the transaction: an ErrNoNode if a node does not exist, ErrNoAuth if it may
// not be read. Rely also fails when ctx ends, with its cause, and when the session is
// over, with an ErrSessionLost. Recipes call it on a view that is pinned to the session
// that has made the nodes.
func (c *Client) Rely(ctx context.Context, nodes ...string) (*Reliance, error) {
	if len(nodes) == 0 {
		return nil, invalid("no node to rely on")
	}
	if c.pinned == nil {
		s, err := c.AwaitSession(ctx)
		if err != nil {
			return nil, err
		}
		c = c.In(s)
	}
	s := c.pinned
	paths := make([]string, len(nodes))
	for i, node := range nodes {
		paths[i] = c.full(node)
	}
	r := &Reliance{failed: make(chan error, 1)}
	for {
		if err := cmp.Or(s.Err(), context.Cause(ctx)); err != nil {
			return nil, err
		}
		var ok bool
		if r.end, ok = s.guard.Rely(paths, r.fail); ok {
			return r, nil
		}
		var err error
		if s.guard.IsVouched() {
			err = c.awaitTrips(ctx)
		} else {
			err = c.makeVouch(ctx, nodes)
		}
		if err != nil {
			return nil, err
		}
	}
}

// awaitTrips waits until there may have been a round trip more.
func (c *Client) awaitTrips(ctx context.Context) error {
	ctx, cancel := c.lifetime(ctx)
	defer cancel()
	return retry.Sleep(ctx, c.pinned.Timeout()/24)
}

// makeVouch has a transaction committed, unless somebody else has meanwhile: many may
// be granted their places at once.
func (c *Client) makeVouch(ctx context.Context, nodes []string) error {
	s := c.pinned
	if err := s.take(ctx, s.vouching); err != nil {
		return err
	}
	defer func() { <-s.vouching }()
	if s.guard.IsVouched() {
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

// fail is told by the guard what a check of a node has found.
func (r *Reliance) fail(err error) {
	_, err = classify(err)
	offer(r.failed, err) // unless it was told of another
}

// End says that nothing relies on the nodes any more. It is idempotent.
func (r *Reliance) End() { r.once.Do(r.end) }
