package zktest

import (
	"sync"
	"time"
)

// parcel is one frame on its way to a client. It is queued at the moment of the change
// or answer that it reports. So a later event cannot overtake a reply, however long a
// fault holds one of them.
type parcel struct {
	frame   []byte
	held    bool      // no fault has decided yet
	dropped bool      // never to be sent
	after   time.Time // not to be sent before, unless zero
	last    bool      // the connection ends with it
}

// outQueue holds the frames that a connection has still to send, in order. Its mutex is
// held only briefly and is the innermost one: it may be taken under the server's.
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

// decide changes a parcel under the queue's lock, after a fault has decided.
func (q *outQueue) decide(p *parcel, change func(p *parcel)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change(p)
	q.cond.Broadcast()
}

// next waits for parcels that may be sent and takes them from the queue, nil once the
// queue is closed. It returns only one if many is false, if the first has to wait for
// its time, or if it is the last of the connection.
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

// plain reports whether a parcel may be sent together with others.
func (p *parcel) plain() bool { return !p.held && !p.dropped && !p.last && p.after.IsZero() }

// mute empties the queue and makes it accept nothing more. Its reader goes on waiting.
func (q *outQueue) mute() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.muted = true
	q.queue = nil
}

// close ends the queue; parcels left in it are never sent.
func (q *outQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.queue = nil
	q.cond.Broadcast()
}
