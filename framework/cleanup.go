package framework

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/retry"
)

// DeleteGuaranteed removes a node of any version. If the answer does not come, or ctx
// ends first, it goes on in the background until the node is known to be gone, the
// session is over (for a view pinned to one) or the client is closed.
//
// It returns nil if the node was removed, ErrNoNode if there was none, and another
// refusal as it is. After any other error, such as ErrUnknownOutcome or the cause of
// ctx, it goes on in the background.
//
// A later node of the same name may be deleted then: use it only for names that are
// never used twice, such as those of CreateProtected.
func (c *Client) DeleteGuaranteed(ctx context.Context, path string) error {
	return c.deleteGuaranteed(ctx, joiningDelete(path))
}

// joiningDelete returns the request of a delete that may join a group.
func joiningDelete(path string) request[struct{}] {
	return request[struct{}]{op: "delete", path: path, deletes: true, start: func(s *Session, path string) (attempt[struct{}], error) {
		a := s.delete(path, AnyVersion)
		a.joins = parentOf(path)
		return a, nil
	}}
}

// deleteGuaranteed is DeleteGuaranteed whose first attempts are those of a request.
func (c *Client) deleteGuaranteed(ctx context.Context, r request[struct{}]) error {
	_, err := do(ctx, c, r)
	c.goOnDeleting(r.path, err)
	return err
}

// goOnDeleting is called when a delete was answered or given up. If it is not known
// what became of the node, the delete is repeated in the background.
func (c *Client) goOnDeleting(path string, err error) {
	if err != nil && !c.endedBy(err) && !errors.Is(err, ErrNoNode) && !refused(err) {
		c.deleteInBackground(path)
	}
}

// deleteInBackground is DeleteGuaranteed without waiting for anything.
func (c *Client) deleteInBackground(path string) {
	c.background(path, func(ctx context.Context, c *Client) error { return c.makeGone(ctx, path) })
}

// makeGone removes a node unless there is none: one of several deletes may have been
// carried out without an answer, or another client was first.
func (c *Client) makeGone(ctx context.Context, path string) error {
	r := deleteRequest(path, AnyVersion)
	r.idempotent = true
	if _, err := do(ctx, c, r); !errors.Is(err, ErrNoNode) {
		return err
	}
	return nil
}

// removeInBackground removes all nodes made under an id. The view is pinned to the
// session in which they were requested.
func (c *Client) removeInBackground(parent string, id protection.ID, mode Mode) {
	path := join(parent, id.Name(""))
	session := c.pinned
	if !mode.ephemeral() { // the node outlives the session, and so must the search
		c = c.In(nil)
	}
	yield := c.State() != Connected
	var before []Created
	c.background(path, func(ctx context.Context, c *Client) error {
		if yield { // callers have waited for the connection too, and go first
			yield = false
			if _, err := c.AwaitSession(ctx); err != nil {
				return err
			}
			if err := retry.Sleep(ctx, nextDelay(c.core.cfg.Reconnect.Start())); err != nil {
				return err
			}
		}
		if !mode.ephemeral() {
			var err error
			if c, err = c.inOrAfter(ctx, session); err != nil {
				return err
			}
		}
		all, err := c.listProtected(ctx, parent, id, mode)
		if err == nil && mode.ephemeral() {
			for _, node := range before {
				if !slices.Contains(all, node) { // its delete was carried out without an answer
					session.gone(c.full(node.Path))
				}
			}
			before = all
		}
		for _, node := range all {
			if e := c.Delete(ctx, node.Path, AnyVersion); e != nil && !errors.Is(e, ErrNoNode) {
				err = errors.Join(err, e)
			}
		}
		return err
	})
}

// inOrAfter returns a view that sees all that a session has done or will do: one pinned
// to it, or, if it is over, an unpinned one when it is over on the server too. Before
// that another session may read too early: the server may still carry out what it
// received over a connection that broke.
func (c *Client) inOrAfter(ctx context.Context, s *Session) (*Client, error) {
	if s.Err() == nil {
		return c.In(s), nil
	}
	select {
	case <-s.disposed:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// nextDelay returns the next delay of a policy. [retry.None] makes no sense here.
func nextDelay(pauses *retry.Schedule) time.Duration {
	d, _ := pauses.Next()
	return max(d, time.Millisecond)
}

// pause waits as a policy says, or until nothing can succeed any more, and says why.
func (c *Client) pause(ctx context.Context, pauses *retry.Schedule) error {
	ctx, cancel := c.lifetime(ctx)
	defer cancel()
	return retry.Sleep(ctx, nextDelay(pauses))
}

// background runs a clean-up until it succeeds, is refused, or has become pointless:
// when the session is over, for nodes that end with it, and when the client is closed,
// for others.
func (c *Client) background(path string, clean func(ctx context.Context, c *Client) error) {
	run := func(ctx context.Context) {
		for _, f := range c.core.observers.cleanupStarted {
			f(c.full(path))
		}
		pauses := c.core.cfg.Reconnect.Start()
		for warned := false; ; {
			err := clean(ctx, c)
			if err == nil || ctx.Err() != nil || refused(err) {
				c.cleaned(path, err)
				return
			}
			delay := nextDelay(pauses)
			if errors.Is(err, ErrReplyTooLarge) {
				// Until other clients have removed some children it will not be found,
				// and each search costs the server a large answer.
				delay = max(delay, c.core.cfg.SessionTimeout)
				if !warned {
					warned = true
					c.core.cfg.Logger.Warn("clean-up has to wait", "path", quote.Path(c.full(path)), "error", err)
				}
			}
			if retry.Sleep(ctx, delay) != nil {
				c.cleaned(path, err)
				return
			}
		}
	}
	if c.pinned != nil {
		c.pinned.Go(run)
		return
	}
	c.core.tasks.start(func() { run(c.core.ctx) })
}

// refused reports whether the server has said no, so that asking again is of no use.
func refused(err error) bool {
	return isAny(err, ErrNoAuth, ErrNotEmpty, ErrInvalidPath, ErrInvalidArgument)
}

func (c *Client) cleaned(path string, err error) {
	full := c.full(path)
	if err != nil && !errors.Is(err, ErrSessionLost) && !errors.Is(err, ErrClosed) {
		c.core.cfg.Logger.Warn("clean-up failed", "path", quote.Path(full), "error", err)
	}
	for _, f := range c.core.observers.cleanupEnded {
		f(full, err)
	}
}

// DeleteTree removes a node and all below it. Nodes that other clients create or delete
// meanwhile do not make it fail; it goes on until the node is gone. ErrNoNode means
// that there was none.
func (c *Client) DeleteTree(ctx context.Context, path string) error {
	if path == "/" {
		return &OpError{Op: "delete tree", Path: path, Outcome: Failed, Err: invalid("the root cannot be deleted")}
	}
	for {
		names, _, err := c.Children(ctx, path)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := c.DeleteTree(ctx, join(path, name)); err != nil && !errors.Is(err, ErrNoNode) {
				return err
			}
		}
		if err := c.makeGone(ctx, path); !errors.Is(err, ErrNotEmpty) {
			return err
		}
	}
}
