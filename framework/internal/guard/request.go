package guard

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// A Request is one that package framework makes over one connection.
type Request interface {
	// Sent is called when the place of the request among those of the connection is
	// settled: what is sent after this call is carried out after it. It is called under
	// a lock, so it must not block, nor send anything. If the connection ends at that
	// moment, Answered may come first.
	Sent()
	// Answered is called once, under no lock, and must not block: on the goroutine that
	// reads from the connection, in the order of answers and events, or on the one that
	// closes it.
	Answered(a Answer)
}

// An Answer is how a request ended.
type Answer struct {
	// Zxid is that of the transaction which the request was, or the newest that the
	// server had carried out.
	Zxid int64
	// Code is the server's error code, 0 for success.
	Code int32
	// Body is what follows the header. It is well-formed, and only valid during the
	// call.
	Body []byte
	// Err is set if there is no answer that can be read: ErrConnectionClosed, an
	// ErrLargeAnswer or an ErrMalformed. The server may have carried out the request.
	Err error
}

// Why there is no answer.
var (
	ErrConnectionClosed = zk.ErrConnectionClosed
	ErrLargeAnswer      = errors.New("answer too large")
	ErrMalformed        = jute.ErrMalformed
)

// HeaderBytes is the size of what precedes the record in a request.
const HeaderBytes = 8

// Requests of package framework are numbered from firstXid up, and from there again
// after the last number. The library numbers its own from 1 up.
const firstXid = 1 << 30

// Send sends a request: an operation and its record. It returns false if that is
// certain to have no effect, because the connection is gone. It does not wait for the
// network.
func (c *Conn) Send(op int32, record []byte, r Request) bool {
	return c.place(func() []byte { return record }, op, r)
}

// place is Send with a record that is chosen when nothing else can be sent before the
// request.
func (c *Conn) place(choose func() []byte, op int32, r Request) bool {
	c.order.Lock()
	defer c.order.Unlock()
	record := choose()
	xid := c.guard.nextXid()
	if record == nil || !c.record(inFlight{xid: xid, op: op, request: r}) {
		return false
	}
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(HeaderBytes+len(record)))
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(xid))
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(op))
	c.out = append(c.out, record...)
	r.Sent()
	c.wake()
	return true
}

func (g *Guard) nextXid() int32 { return firstXid | int32(g.xids.Add(1)&(firstXid-1)) }

// answer gives a request its answer, unless it has one.
func (c *Conn) answer(a Answer) {
	c.mu.Lock()
	r := c.answering
	c.answering = nil
	c.mu.Unlock()
	if r != nil {
		r.Answered(a)
	}
}

// abandon answers the requests that will get no answer, when the connection is gone.
func (c *Conn) abandon() {
	c.mu.Lock()
	left := c.sent
	if c.answering != nil {
		left = append([]inFlight{{request: c.answering}}, left...)
	}
	c.sent, c.answering = nil, nil
	c.mu.Unlock()
	for _, f := range left {
		if f.request != nil {
			f.request.Answered(Answer{Err: ErrConnectionClosed})
		}
	}
}

// largeAnswer says how large an answer was that is not read.
func largeAnswer(bytes int) error { return fmt.Errorf("%w: %d bytes", ErrLargeAnswer, bytes) }
