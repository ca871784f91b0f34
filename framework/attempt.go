package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// An attempt is what is sent for a request.
type attempt[T any] struct {
	code   int32 // of the operation
	record []byte
	joins  string // the parent on the server, if it may join a group, else ""
	sent   func() // see guard.Request; it may be nil
	behind func() // called after that without a lock, to send more; it may be nil
	// placed is called then, too, with the signal that the gate is not open any more
	// for that connection. It may be nil.
	placed func(down *signal.Signal)
	// finish returns the result of the request from the answer and its error, if it has
	// one. It is called once, also if nothing was sent. It must not block.
	finish func(a guard.Answer, err error) (T, error)
}

// send sends a request and waits for the answer, the end of ctx, or that of the
// session. A request cannot be taken back: when ctx ends it may still be carried out,
// and its outcome is unknown.
func send[T any](ctx context.Context, s *Session, path string, r request[T]) (value T, outcome Outcome, err error) {
	if err := s.take(ctx, s.slots); err != nil {
		return value, Failed, err
	}
	for {
		c := &call[T]{session: s, late: r.late, answer: s.answers.take()}
		left := false
		if err = c.send(ctx, path, r.start); err == nil {
			left, err = c.await(ctx)
		}
		if left {
			return value, Unknown, leftError{err}
		}
		s.answers.give(c.answer)
		switch {
		case err != nil:
			<-s.slots
			return value, Failed, err
		case !c.unsent:
			return c.value, c.outcome, s.explain(c.err)
		}
	}
}

// await waits for the answer, or until the call is given back. If the caller has to
// leave before that it returns why, and whether it leaves the call to late; else
// nothing was sent.
func (c *call[T]) await(ctx context.Context) (left bool, why error) {
	select {
	case <-c.answer:
		return false, nil
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-c.session.ctx.Done():
		why = context.Cause(c.session.ctx)
	}
	if c.over.withdraw(c) {
		_, _ = c.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)
		return false, why
	}
	if c.decided.CompareAndSwap(false, true) {
		return true, why
	}
	if <-c.answer; c.unsent {
		return false, why
	}
	return false, nil
}

// A leftError is why a call has returned before its request was answered: late gets the
// answer, whatever it is.
type leftError struct{ error }

func (e leftError) Unwrap() error { return e.error }

// A call is one request that is sent. It implements guard.Request.
type call[T any] struct {
	session *Session
	attempt attempt[T]
	late    func(v T, outcome Outcome)
	decided atomic.Bool   // whether the caller gets the result, or late
	answer  chan struct{} // receives once, if the caller gets the result, which is then there
	value   T
	outcome Outcome
	err     error
	over    *groups // what sends it
	unsent  bool    // it is given back
	own     flight
}

// send sends the request over the connection for which the gate is open. An attempt
// that comes too late for one connection waits for the next.
func (c *call[T]) send(ctx context.Context, path string, start func(*Session, string) (attempt[T], error)) (err error) {
	for {
		if c.over = c.session.gate.requests(); c.over != nil {
			if c.attempt, err = start(c.session, path); err != nil {
				return err
			}
			err = c.session.checkSize(c.attempt.record)
			if err == nil && c.over.send(c) {
				return nil
			}
			_, _ = c.attempt.finish(guard.Answer{}, cmp.Or(err, guard.ErrConnectionClosed))
			if err != nil {
				return err
			}
			select {
			case <-c.over.down.Done():
			case <-c.session.ctx.Done():
			}
		}
		if err := c.session.await(ctx); err != nil {
			return err
		}
	}
}

// follow calls what has to come behind the attempt, which has its place among the
// requests of a connection.
func (a *attempt[T]) follow(down *signal.Signal) {
	if a.behind != nil {
		a.behind()
	}
	if a.placed != nil {
		a.placed(down)
	}
}

func (c *call[T]) joins() string                          { return c.attempt.joins }
func (c *call[T]) operation() (code int32, record []byte) { return c.attempt.code, c.attempt.record }
func (c *call[T]) follow(down *signal.Signal)             { c.attempt.follow(down) }
func (c *call[T]) flight() *flight                        { return &c.own }

// giveBack has the caller send it again over another connection. If it has left, late
// is called.
func (c *call[T]) giveBack() {
	v, _ := c.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)
	if c.decided.CompareAndSwap(false, true) {
		c.unsent = true
		c.answer <- struct{}{}
		return
	}
	<-c.session.slots
	if c.late != nil {
		c.late(v, Failed)
	}
}

// Sent is called when the request has its place.
func (c *call[T]) Sent() {
	if c.attempt.sent != nil {
		c.attempt.sent()
	}
}

// Answered gives the result to the caller.
func (c *call[T]) Answered(a guard.Answer) {
	v, outcome, err := c.attempt.read(a)
	<-c.session.slots
	wanted := c.decided.CompareAndSwap(false, true)
	c.session.endIfExpired(err) // also if the call has returned
	switch {
	case wanted:
		c.value, c.outcome, c.err = v, outcome, err
		c.answer <- struct{}{} // the caller may give it to another call at once
	case c.late != nil:
		c.late(v, outcome)
	}
}

// read reads the answer.
func (a *attempt[T]) read(answer guard.Answer) (v T, outcome Outcome, err error) {
	outcome, err = outcomeOf(answer)
	v, final := a.finish(answer, err)
	switch {
	case final == nil:
		outcome = Done
	case isAny(final, errMalformedAnswer, guard.ErrConnectionClosed):
		outcome = Unknown
	case err == nil: // the answer shows a refusal
		outcome = Failed
	}
	return v, outcome, final
}

// endIfExpired ends the session if an answer says so, also that to a multi.
func (s *Session) endIfExpired(err error) {
	if errors.Is(err, ErrSessionExpired) {
		s.over(ErrSessionExpired)
	}
}

// answerChannels are used again and again, each by one call at a time: a call sends
// once, or never if the caller has decided so.
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

// explain adds to the error of a request why it has it. If the session is over, that is
// the reason to give; the other only says how it was noticed.
func (s *Session) explain(err error) error {
	if err == nil {
		return nil
	}
	if why := s.guard.Broken(); why != nil && errors.Is(err, guard.ErrConnectionClosed) {
		err = why
	}
	if errors.Is(err, ErrReplyTooLarge) {
		err = fmt.Errorf("%w, the limit is %d", err, s.core.cfg.MaxReplyBytes)
	}
	if over := context.Cause(s.ctx); over != nil && !errors.Is(err, over) {
		err = fmt.Errorf("%w (%w)", over, err)
	}
	return err
}
