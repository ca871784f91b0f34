package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A request is one operation on one path.
type request[T any] struct {
	op         string
	path       string // as the caller gave it
	sequential bool   // the path may end with a slash
	idempotent bool   // may be repeated after an unknown outcome
	reads      bool   // changes nothing
	inTask     bool   // made by a task of the session

	// send makes the library's blocking call in a session, with the path on the server.
	send func(s *Session, path string) (T, error)
	// late gets the result if the call returned before it came. It may be nil, and runs
	// in a task of the session.
	late func(v T, err error)
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
	var start time.Time
	ended := c.core.observers.requestEnded
	if len(ended) > 0 {
		start = time.Now()
	}
	s, err := c.AwaitSession(ctx)
	var value T
	outcome, session := Failed, int64(0)
	if err == nil {
		r.inTask = c.inTask
		value, outcome, err = send(ctx, s, c.full(r.path), r)
		session = s.ID()
	}
	if r.reads && outcome == Unknown && unreadable(err) {
		outcome = Failed // the next answer would be the same
	}
	if err != nil {
		err = &OpError{Op: r.op, Path: r.path, Session: session, Outcome: outcome, Err: err}
	}
	for _, f := range ended {
		f(ctx, Request{Op: r.op, Path: c.full(r.path), Session: session, Attempt: number, Duration: time.Since(start), Err: err})
	}
	return value, err
}

// unreadable reports whether there was an answer that could not be read.
func unreadable(err error) bool {
	return isAny(err, ErrReplyTooLarge, errMalformedAnswer)
}

// send gives a request to the library and waits for the answer, the end of ctx, or that
// of the session. The library's calls cannot be cancelled, so each runs in its own
// task, which goes on when ctx ends. The request may then still be carried out, and its
// outcome is unknown.
func send[T any](ctx context.Context, s *Session, path string, r request[T]) (value T, outcome Outcome, err error) {
	if err := s.take(ctx, s.slots); err != nil {
		return value, Failed, err
	}
	c := &call[T]{session: s, path: path, send: r.send, late: r.late, answer: s.answers.take()}
	if r.inTask { // whose goroutine may wait for as long as the library does
		c.run()
	} else if !s.tasks.do(c) {
		<-s.slots
		return value, Failed, context.Cause(s.ctx)
	}
	select {
	case <-c.answer:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.ctx.Done():
		err = context.Cause(s.ctx)
	}
	if err != nil {
		if c.decided.CompareAndSwap(false, true) {
			return value, Unknown, err
		}
		<-c.answer
	}
	s.answers.give(c.answer)
	return judge(s, c.value, c.err)
}

// A call is one request that was given to the library.
type call[T any] struct {
	session *Session
	path    string // on the server
	send    func(s *Session, path string) (T, error)
	late    func(v T, err error)
	decided atomic.Bool   // whether the task delivers the result to the caller, or gives it to late
	answer  chan struct{} // receives once, if it delivers the result, which is then there
	value   T
	err     error
}

func (c *call[T]) run() {
	v, err := c.send(c.session, c.path)
	<-c.session.slots
	wanted := c.decided.CompareAndSwap(false, true)
	if errors.Is(err, zk.ErrSessionExpired) { // also if the call has returned
		c.session.end(ErrSessionExpired)
	}
	switch {
	case wanted:
		c.value, c.err = v, err
		c.answer <- struct{}{} // the caller may give it to another call at once
	case c.late != nil:
		c.late(v, err)
	}
}

// answerChannels are used again and again, each by one call at a time: the task of a
// call sends once, or never if the caller has decided so.
type answerChannels struct{ unused sync.Pool }

func (a *answerChannels) take() chan struct{} {
	if answer, ok := a.unused.Get().(chan struct{}); ok {
		return answer
	}
	return make(chan struct{}, 1)
}

// give takes back a channel that the caller has received from.
func (a *answerChannels) give(answer chan struct{}) { a.unused.Put(answer) }

// take waits until a channel takes a value, or for the end of ctx or of the session.
func (s *Session) take(ctx context.Context, slots chan<- struct{}) error {
	select { // a select of one channel locks no other
	case slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// judge says how a request ended by what the library returned. If the session is over,
// that is the reason to give; the library's error only says how it noticed.
func judge[T any](s *Session, value T, err error) (T, Outcome, error) {
	outcome, err := classify(err)
	if why := s.guard.Broken(); why != nil && errors.Is(err, zk.ErrConnectionClosed) {
		err = why
	}
	if errors.Is(err, ErrReplyTooLarge) {
		err = fmt.Errorf("%w, the limit is %d", err, s.core.cfg.MaxReplyBytes)
	}
	if over := context.Cause(s.ctx); err != nil && over != nil && !errors.Is(err, over) {
		err = fmt.Errorf("%w (%w)", over, err)
	}
	return value, outcome, err
}
