package framework

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// A readAtOnce is a read that is sent without waiting for anything, in the session of a
// view that is pinned to one. It implements guard.Request.
type readAtOnce[T any] struct {
	client   *Client
	request  request[found[T]]
	attempt  attempt[found[T]]
	begun    time.Time
	answered func(f found[T], err error)
}

// send sends it, unless that cannot be done now. Nothing is repeated.
func (r *readAtOnce[T]) send(start func(s *Session, path string) attempt[found[T]]) bool {
	s := r.client.pinned
	conn, _ := s.gate.present()
	if conn == nil {
		return false
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	r.begun = r.client.requestBegins()
	r.attempt = start(s, r.client.full(r.request.path))
	if s.checkSize(r.attempt.record) == nil && conn.Send(r.attempt.code, r.attempt.record, r) {
		return true
	}
	_, _ = r.attempt.finish(guard.Answer{}, guard.ErrConnectionClosed)
	<-s.slots
	return false
}

// Sent does nothing.
func (r *readAtOnce[T]) Sent() {}

// Answered hands the result over.
func (r *readAtOnce[T]) Answered(a guard.Answer) {
	s := r.client.pinned
	f, outcome, err := r.attempt.read(a)
	<-s.slots
	s.endIfExpired(err)
	err = r.request.explain(s.explain(err), outcome, s.ID())
	r.client.requestEnded(context.Background(), Request{Op: r.request.op, Path: r.request.path, Session: s.ID(), Attempt: 1, Err: err}, r.begun)
	r.answered(f, err)
}

// SendChildren lists children.
func (v recipeView) SendChildren(path string, answered func(children []string, err error)) bool {
	r := &readAtOnce[[]string]{
		client: v.Client, request: request[found[[]string]]{op: childrenReading.op, path: path, reads: true},
		answered: func(f found[[]string], err error) { answered(f.value, err) },
	}
	return r.send(func(_ *Session, path string) attempt[found[[]string]] {
		return attempt[found[[]string]]{code: childrenReading.code, record: readRecord(path, false), finish: childrenReading.finish}
	})
}

// SendGet reads a node together with a watch.
func (v recipeView) SendGet(path string, notify func(Event), answered func(data []byte, stat Stat, stop func(), err error)) bool {
	n := &notified{notify: notify}
	r := &readAtOnce[[]byte]{
		client: v.Client, request: request[found[[]byte]]{op: dataReading.op, path: path, reads: true},
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
	sent := r.send(func(s *Session, path string) attempt[found[[]byte]] { return dataReading.startWatch(s, path, n) })
	if !sent {
		n.over.Store(true)
	}
	return sent
}
