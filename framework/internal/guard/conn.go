package guard

import (
	"bufio"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// A Conn stands between the client library and a network connection, and sends the
// requests of package framework itself. It sees every frame, and learns from them when
// each request was sent and answered (for the trust deadline and the request timeout),
// the negotiated timeout, and the session's id and password. It limits the time of the
// handshake.
//
// The library writes each frame with one Write, from one goroutine at a time.
type Conn struct {
	net.Conn
	guard *Guard
	addr  string
	read  *bufio.Reader

	order   sync.Mutex    // held while a frame is put behind those that were before
	out     []byte        // frames that are not written yet
	written chan struct{} // wakes the goroutine that writes

	// Used by the reading goroutine only.
	frame  []byte // the rest of the connect reply, for the library
	buffer []byte // for all frames that fit into it
	skip   int    // bytes to discard behind the present frame

	accepted int      // how many credentials the server has answered
	toSet    [][]byte // requests that set watches: the one under way, and those behind it

	mu         sync.Mutex
	sent       []inFlight // requests and the connect request, oldest first
	answering  Request    // the one whose answer is being read
	room       []inFlight // what sent is a part of
	first      time.Time  // when the oldest of them could be answered next
	inFrame    bool       // the rest of a frame has not arrived yet
	pings      []time.Time
	receivedAt time.Time     // when the newest bytes arrived
	attached   bool          // handshake complete
	closing    bool          // our close request was sent
	vouching   []*reliedNode // nodes of the check under way; nil if there is none

	removing atomic.Bool           // a watch is being removed
	writeErr atomic.Pointer[error] // why nothing can be written

	gone     *signal.Signal  // nothing passes through the connection any more
	notified *signal.Signal  // the session knows that, too
	ended    <-chan struct{} // closed when the connection is closed, which may take long; set before notified is given
}

type inFlight struct {
	xid     int32
	op      int32
	at      time.Time
	request Request // nil if it is not one of package framework
}

// readAhead is how much of a frame can be inspected before the rest has arrived. Most
// frames are smaller.
const readAhead = 16 << 10

func newConn(g *Guard, addr string, conn net.Conn, deadline time.Time) *Conn {
	c := &Conn{
		Conn: conn, guard: g, addr: addr, written: make(chan struct{}, 1),
		read: bufio.NewReaderSize(conn, readAhead), buffer: make([]byte, readAhead), gone: signal.New(), notified: signal.New(),
	}
	_ = conn.SetDeadline(deadline) // for the handshake
	return c
}

// SetReadDeadline does nothing: what is read is mostly not for the library, which would
// wait for the handshake up to 6.67 session timeouts. Supervise limits how long a
// server is silent.
func (c *Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, for the same reason.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

func (c *Conn) isAttached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attached
}

// record records a frame before it is sent: the send time must not be later than the
// moment at which the server can have seen the frame. It returns false if the
// connection is over and nothing may be sent any more.
func (c *Conn) record(f inFlight) bool {
	f.at = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.gone.Given(), c.closing:
		return false
	case !c.attached: // the connect request
		c.await(inFlight{at: f.at})
	case f.xid == xidPing:
		c.pings = append(c.pings, f.at)
	default:
		c.closing = f.xid == xidClose
		c.await(f)
	}
	return true
}

// await adds a request to those in flight. Those that were answered have left room at
// the front, which is used when there is none behind. The caller has the lock.
func (c *Conn) await(f inFlight) {
	if len(c.sent) == cap(c.sent) {
		if len(c.sent) >= cap(c.room)/2 {
			c.room = make([]inFlight, 2*len(c.sent)+8)
		}
		c.sent = append(c.room[:0], c.sent...)
	}
	c.sent = append(c.sent, f)
}

// answered removes the request with this xid from those in flight. Answers come in the
// order of the requests, except those to pings, so it is the first one.
func (c *Conn) answered(xid int32) (inFlight, bool) {
	if xid == xidPing {
		if len(c.pings) == 0 {
			return inFlight{}, false
		}
		at := c.pings[0]
		c.pings = c.pings[1:]
		return inFlight{xid: xid, at: at}, true
	}
	for i, f := range c.sent {
		if f.xid == xid {
			if c.sent[i].request = nil; i == 0 { // it may hold much memory
				c.sent, c.first = c.sent[1:], time.Now()
			} else {
				c.sent = slices.Delete(c.sent, i, i+1)
			}
			return f, true
		}
	}
	return inFlight{}, false
}
