package framework

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// A requestAtOnce is one that is sent without waiting for anything, in the session of a
// view that is pinned to one. It may join a group.
type requestAtOnce[T any] struct {
	ctx      context.Context // with what observers have added to it
	client   *Client
	request  request[T]
	attempt  attempt[T]
	begun    time.Time
	answered func(v T, err error) // where answers come
	// counts is set if an attempt may have an effect before it is sent: a release that
	// is unconfirmed is sent on the next connection. Then one that comes too late for
	// its connection has an unknown outcome.
	counts bool
}

// send sends it, unless that cannot be done now. Nothing is repeated.
func (r *requestAtOnce[T]) send() bool {
	s := r.client.pinned
	over := s.gate.requests()
	if over == nil {
		return false
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	r.begun = r.client.requestBegins()
	if !r.start(s) {
		<-s.slots
		return false
	}
	switch {
	case over.send(r):
		return true
	case r.counts:
		r.giveBack()
		return true
	}
	_, _ = r.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)
	<-s.slots
	return false
}

// start makes the attempt, unless it is too large.
func (r *requestAtOnce[T]) start(s *Session) bool {
	var err error
	if r.attempt, err = r.request.start(s, r.client.full(r.request.path)); err != nil {
		return false
	}
	if err = s.checkSize(r.attempt.record); err != nil {
		_, _ = r.attempt.finish(guard.Answer{}, err)
	}
	return err == nil
}

func (r *requestAtOnce[T]) joins() string { return r.attempt.joins }
func (r *requestAtOnce[T]) operation() (code int32, record []byte) {
	return r.attempt.code, r.attempt.record
}
func (r *requestAtOnce[T]) follow(down *signal.Signal) { r.attempt.follow(down) }
func (r *requestAtOnce[T]) flight() *flight            { return &flight{} }

// giveBack ends it: it was not sent in time.
func (r *requestAtOnce[T]) giveBack() { r.Answered(guard.Answer{Err: guard.ErrConnectionClosed}) }

// Sent does nothing.
func (r *requestAtOnce[T]) Sent() {}

// Answered hands the result over.
func (r *requestAtOnce[T]) Answered(a guard.Answer) {
	s := r.client.pinned
	v, outcome, err := r.attempt.read(a)
	<-s.slots
	s.endIfExpired(err)
	err = r.request.explain(s.explain(err), outcome, s.ID())
	r.client.requestEnded(r.ctx, Request{Op: r.request.op, Path: r.request.path, Session: s.ID(), Attempt: 1, Err: err}, r.begun)
	r.answered(v, err)
}

// SendChildren lists children.
func (v recipeView) SendChildren(path string, answered func(children []string, err error)) bool {
	r := &requestAtOnce[[]string]{
		ctx: context.Background(), client: v.Client, answered: answered,
		request: request[[]string]{op: childrenReading.op, path: path, reads: true, start: namesOnly},
	}
	return r.send()
}

// namesOnly is an attempt to list children that may join a group: then its answer has
// no Stat.
func namesOnly(_ *Session, path string) (attempt[[]string], error) {
	return attempt[[]string]{
		code: guard.OpGetChildren2, record: readRecord(path, false), joins: path,
		finish: func(a guard.Answer, err error) (names []string, _ error) {
			if err == nil {
				names = decodeNames(jute.NewDecoder(a.Body))
			}
			return names, err
		},
	}, nil
}

// SendGet reads a node together with a watch.
func (v recipeView) SendGet(path string, notify func(Event), answered func(data []byte, stat Stat, stop func(), err error)) bool {
	n := &notified{notify: notify}
	r := &requestAtOnce[found[[]byte]]{
		ctx: context.Background(), client: v.Client,
		request: request[found[[]byte]]{op: dataReading.op, path: path, reads: true, start: func(s *Session, path string) (attempt[found[[]byte]], error) {
			return dataReading.startWatch(s, path, n), nil
		}},
		answered: func(f found[[]byte], err error) {
			if err != nil {
				n.over.Store(true)
				answered(nil, Stat{}, nil, err)
				return
			}
			own := f.own // not the value, which stop would keep
			answered(f.value, f.stat, func() { n.stop(own) }, nil)
		},
	}
	sent := r.send()
	if !sent {
		n.over.Store(true)
	}
	return sent
}

// SendDelete sends the delete of DeleteGuaranteed or Release.
func (v recipeView) SendDelete(ctx context.Context, path string, over bool, answered func(err error)) bool {
	if v.pinned.further && v.core.unanswered.any() {
		return false
	}
	r := &requestAtOnce[struct{}]{ctx: ctx, client: v.Client, request: joiningDelete(path), counts: over}
	if over {
		r.request = v.releaseRequest(path)
	}
	r.answered = func(_ struct{}, err error) {
		v.goOnDeleting(path, err)
		answered(err)
	}
	return r.send()
}
