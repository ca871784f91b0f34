package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A request is one operation on one path.
type request[T any] struct {
	op         string
	path       string // as the caller gave it
	sequential bool   // the path may end with a slash
	idempotent bool   // may be repeated after an unknown outcome
	reads      bool   // changes nothing
	deletes    bool   // may end a lease

	// start makes an attempt in a session, with the path on the server. If it fails,
	// nothing is sent.
	start func(s *Session, path string) (attempt[T], error)
	// late gets the result if the call returned before it came. It may be nil. It must
	// not block.
	late func(v T, outcome Outcome)
}

// do runs a request, repeating it where that is safe, until ctx ends.
func do[T any](ctx context.Context, c *Client, r request[T]) (T, error) {
	if err := cmp.Or(c.usable(), validatePath(r.path, r.sequential)); err != nil {
		var none T
		return none, &OpError{Op: r.op, Path: r.path, Outcome: Failed, Err: err}
	}
	value, err := once(ctx, c, r, 1)
	if err == nil || c.once || ctx.Err() != nil || !c.repeatable(err, r.idempotent) {
		return value, err
	}
	return repeat(ctx, c, r, value, err)
}

// repeat repeats a request whose attempt has failed.
func repeat[T any](ctx context.Context, c *Client, r request[T], value T, first error) (T, error) {
	failed, number := first, 1
	again := func(ctx context.Context) error {
		err := first // the attempt that was made counts as the loop's first
		if first = nil; err == nil {
			number++
			value, err = once(ctx, c, r, number)
		}
		if err != nil && ctx.Err() == nil {
			failed = err
			if c.failing != nil {
				c.failing(err)
			}
		}
		return err
	}
	loop := retry.Do
	if r.idempotent {
		loop = retry.DoIdempotent
	}
	ctx, cancel := c.lifetime(ctx)
	defer cancel()
	err := loop(ctx, c.core.cfg.Retry, c.verdict, again)
	if err != nil && ctx.Err() != nil && !errors.Is(err, failed) { // that is why it took so long
		err = fmt.Errorf("%w; before that: %w", err, failed)
	}
	return value, err
}

// lifetime returns a context that also ends when nothing can succeed any more: when the
// client is closed, or the session is over that the view is pinned to.
func (c *Client) lifetime(ctx context.Context) (context.Context, context.CancelFunc) {
	over := c.core.ctx
	if c.pinned != nil {
		over = c.pinned.ctx // which ends after that of the client
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(over, func() { cancel(context.Cause(over)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (c *Client) repeatable(err error, idempotent bool) bool {
	v := c.verdict(err)
	return v == retry.Again || (v == retry.Unknown && idempotent)
}

// once sends a request one time, in a session to which requests may be sent. number
// counts these attempts.
func once[T any](ctx context.Context, c *Client, r request[T], number int) (T, error) {
	begun := c.requestBegins()
	s, err := c.AwaitSession(ctx)
	if err == nil {
		err = c.beforeSending(ctx, s, r.deletes)
	}
	var value T
	outcome, session := Failed, int64(0)
	if err == nil {
		value, outcome, err = send(ctx, s, c.full(r.path), r)
		session = s.ID()
		if outcome == Unknown && !r.reads {
			c.core.unanswered.add(s)
		}
	}
	err = r.explain(err, outcome, session)
	c.requestEnded(ctx, Request{Op: r.op, Path: r.path, Session: session, Attempt: number, Err: err}, begun)
	return value, err
}

// beforeSending waits for what has to be carried out in other sessions of the client
// before a request is sent in this one.
func (c *Client) beforeSending(ctx context.Context, s *Session, deletes bool) error {
	switch {
	case !c.recipe:
		return s.catchUp(ctx, c)
	case s.further && deletes:
		return c.settleWrites(ctx)
	}
	return nil
}

// explain adds to an error what has failed, and how.
func (r *request[T]) explain(err error, outcome Outcome, session int64) error {
	if err == nil {
		return nil
	}
	if r.reads && outcome == Unknown && unreadable(err) {
		outcome = Failed // the next answer would be the same
	}
	return &OpError{Op: r.op, Path: r.path, Session: session, Outcome: outcome, Err: err}
}

// unreadable reports whether there was an answer that could not be read.
func unreadable(err error) bool {
	return isAny(err, ErrReplyTooLarge, errMalformedAnswer)
}
