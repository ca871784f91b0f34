package framework

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/retry"
)

// DeleteGuaranteed removes a node, whatever its version, and does not give up on an
// uncertain end: if the answer does not come, or ctx ends first, removing is carried on
// in the background until it is confirmed, the session is over (for a view pinned to
// one) or the client is closed.
//
// It returns nil if the node was removed, ErrNoNode if there was none, and another
// refusal as it is. After any other error, such as ErrUnknownOutcome or the cause of
// ctx, the background has taken over.
//
// A delete by path may hit a later node of the same name: use it only for names that
// are never used twice, such as protected ones.
func (c *Client) DeleteGuaranteed(ctx context.Context, path string) error {
	_, err := do(ctx, c, deleteRequest(path, AnyVersion))
	if err == nil || c.endedBy(err) {
		return err
	}
	if !errors.Is(err, ErrNoNode) && !refused(err) {
		c.deleteInBackground(path)
	}
	return err
}

// deleteInBackground is DeleteGuaranteed without waiting for anything.
func (c *Client) deleteInBackground(path string) {
	c.background(path, func(ctx context.Context, c *Client) error { return c.makeGone(ctx, path) })
}

// makeGone removes a node unless there is none: one delete of several may have been
// carried out without an answer, or somebody else was first.
func (c *Client) makeGone(ctx context.Context, path string) error {
	r := deleteRequest(path, AnyVersion)
	r.idempotent = true
	if _, err := do(ctx, c, r); !errors.Is(err, ErrNoNode) {
		return err
	}
	return nil
}

// sweepLater removes all nodes made under an id in the background. The view is pinned
// to the session in which they were asked for.
func (c *Client) sweepLater(parent string, id protection.ID, mode Mode) {
	path := join(parent, id.Name(""))
	session := c.pinned
	if !mode.ephemeral() { // it does not end with the session, nor may the search
		c = c.In(nil)
	}
	yield := c.State() != Connected
	c.background(path, func(ctx context.Context, c *Client) error {
		if yield { // to callers, who have waited for the connection to come back, too
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
		for _, node := range all {
			if e := c.Delete(ctx, node.Path, AnyVersion); e != nil && !errors.Is(e, ErrNoNode) {
				err = errors.Join(err, e)
			}
		}
		return err
	})
}

// inOrAfter returns a view that sees all that a session has done or ever will: one
// pinned to it, or, if it is over, an unpinned one when it is over on the server too.
// Until then another session may look too early, because the server may still carry out
// what it was sent over a connection that we have given up.
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
func nextDelay(pace *retry.Schedule) time.Duration {
	d, _ := pace.Next()
	return max(d, time.Millisecond)
}

// background runs a clean-up until it succeeds, is refused, or has become pointless. It
// goes on as long as what it cleans up can exist: until the session is over for nodes
// that end with it, until the client is closed for others.
func (c *Client) background(path string, clean func(ctx context.Context, c *Client) error) {
	run := func(ctx context.Context) {
		for _, f := range c.core.observers.cleanupStarted {
			f(c.full(path))
		}
		pace := c.core.cfg.Reconnect.Start()
		for warned := false; ; {
			err := clean(ctx, c)
			if err == nil || ctx.Err() != nil || refused(err) {
				c.cleaned(path, err)
				return
			}
			delay := nextDelay(pace)
			if errors.Is(err, ErrReplyTooLarge) {
				// Until others have removed some children it will not be found, and
				// each look costs the server, and the connection, a large answer.
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

// DeleteTree removes a node and all below it. Nodes that others create or delete
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
