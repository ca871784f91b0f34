package zktest

import (
	"sync"
	"time"
)

// parcel is one frame on its way to a client. Its place in the queue is taken when the
// thing it tells of happens, so that a reply cannot be overtaken by an event that came
// later, however long a fault decides about either.
type parcel struct {
	frame   []byte
	held    bool      // a fault has not decided yet
	dropped bool      // never to be sent
	after   time.Time // not to be sent before, unless zero
	last    bool      // the connection ends with it
}

// outQueue is the frames one connection has still to send, in order. Its mutex is held
// for moments only and is the innermost one: it may be taken under the server's.
type outQueue struct {
	mu     sync.Mutex
	cond   *sync.Cond
	queue  []*parcel
	muted  bool
	closed bool
}

func newOutQueue() *outQueue {
	q := &outQueue{}
	q.cond = sync.NewCond(&q.mu)
	return q
}

// put appends a parcel.
func (q *outQueue) put(p *parcel) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed && !q.muted {
		q.queue = append(q.queue, p)
		q.cond.Broadcast()
	}
}

// settle changes a parcel under the queue's lock, for a fault that has decided.
func (q *outQueue) settle(p *parcel, decide func(p *parcel)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	decide(p)
	q.cond.Broadcast()
}

// next waits for parcels that are free to go and takes them from the queue. It returns
// only the first if that one has to wait for its time or is the last of the connection,
// or if not many are wanted, and nil once the queue is closed.
func (q *outQueue) next(many bool) []*parcel {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.queue) > 0 && q.queue[0].dropped {
			q.queue = q.queue[1:]
		}
		if q.closed {
			return nil
		}
		if len(q.queue) > 0 && !q.queue[0].held {
			break
		}
		q.cond.Wait()
	}
	n := 1
	for many && n < len(q.queue) && q.queue[n-1].plain() && q.queue[n].plain() {
		n++
	}
	batch := q.queue[:n:n]
	q.queue = q.queue[n:]
	return batch
}

// plain tells whether a parcel may travel together with others.
func (p *parcel) plain() bool { return !p.held && !p.dropped && !p.last && p.after.IsZero() }

// mute makes the queue forget what is in it and take nothing more, while its reader
// goes on waiting.
func (q *outQueue) mute() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.muted = true
	q.queue = nil
}

// close ends the queue; what is left in it is never sent.
func (q *outQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.queue = nil
	q.cond.Broadcast()
}
