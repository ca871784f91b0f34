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

// A Conn stands between the client library and a network connection. It sees every
// frame, and learns from them what the library does not report: when each request was
// sent and answered (for the trust deadline and the request timeout), the negotiated
// timeout, the session's id and password, the zxids of creates, and whether the watches
// were set again. It limits the time of the handshake. It swallows write errors,
// because the library deadlocks on some of them; the broken socket shows on the reading
// side at once.
//
// The library writes each frame with one Write, from one goroutine at a time.
type Conn struct {
	net.Conn
	guard *Guard
	addr  string
	slot  chan struct{} // held while writing; a channel, so that waiting for it can end
	read  *bufio.Reader

	// Used by the reading goroutine only.
	frame   []byte // the rest of the present frame, for the library
	buffer  []byte // for all frames that fit into it
	skip    int    // bytes to discard behind that
	readErr error  // ends the reading after that

	mu         sync.Mutex
	sent       []inFlight // requests and the connect request, oldest first
	room       []inFlight // what sent is a part of
	first      time.Time  // when the oldest of them could be answered next
	inFrame    bool       // the rest of a frame has not arrived yet
	pings      []time.Time
	receivedAt time.Time     // when the newest bytes arrived
	attached   bool          // handshake complete
	closing    bool          // our close request was sent
	begun      atomic.Bool   // the library has sent a request behind the credentials
	vouching   []*reliedNode // nodes of the check under way; nil if there is none

	removing atomic.Bool // a watch is being removed
	taken    *IdleWatch  // the one, once the request was sent

	holding    bool            // requests wait until watches were set again
	holdingAll bool            // requests to set watches wait as well
	held       [][]byte        // the requests that wait
	gone       *signal.Signal  // nothing passes through the connection any more
	notified   *signal.Signal  // the session knows that, too
	ended      <-chan struct{} // closed when the connection is closed, which may take long; set before notified is given
}

type inFlight struct {
	xid int32
	op  int32
	at  time.Time
}

// readAhead is how much of a frame can be inspected before the rest has arrived. Most
// frames are smaller.
const readAhead = 16 << 10

func newConn(g *Guard, addr string, conn net.Conn, deadline time.Time) *Conn {
	c := &Conn{
		Conn: conn, guard: g, addr: addr, slot: make(chan struct{}, 1),
		read: bufio.NewReaderSize(conn, readAhead), buffer: make([]byte, readAhead), gone: signal.New(), notified: signal.New(),
	}
	_ = conn.SetDeadline(deadline) // for the handshake
	return c
}

// SetReadDeadline does nothing before the end of the handshake, for which the library
// would wait up to 6.67 session timeouts.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.obey(c.Conn.SetReadDeadline, t)
}

// SetWriteDeadline does the same for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.obey(c.Conn.SetWriteDeadline, t)
}

func (c *Conn) obey(set func(time.Time) error, t time.Time) error {
	if !c.isAttached() {
		return nil
	}
	return set(t)
}

func (c *Conn) isAttached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attached
}

// acquire waits for the right to write, the slot. It returns false if the connection
// ends first, or over is closed.
func (c *Conn) acquire(over <-chan struct{}) bool {
	select {
	case c.slot <- struct{}{}:
		return true
	case <-c.gone.Done():
	case <-over:
	}
	return false
}

func (c *Conn) release() { <-c.slot }

// Write sends one frame of the library.
func (c *Conn) Write(frame []byte) (int, error) {
	if !c.acquire(nil) {
		return len(frame), nil
	}
	defer c.release()
	op, attached := operation(frame), c.isAttached()
	switch {
	case !attached:
		frame = withZxid(frame, c.guard.zxid.Load())
	case op != opSetAuth && op != opPing:
		c.beforeFirst()
	}
	setsWatches := attached && op == opSetWatches
	if setsWatches {
		c.guard.events.SettingWatches()
	}
	if c.hold(frame) {
		return len(frame), nil
	}
	c.write(frame)
	if setsWatches {
		c.writeHeld()
	}
	return len(frame), nil
}

// write sends a frame. The caller has the slot.
func (c *Conn) write(frame []byte) {
	if !c.record(frame) {
		return
	}
	if path, ok := createPath(frame); ok {
		c.guard.sending(path)
	}
	if _, err := c.Conn.Write(frame); err != nil {
		c.drop(err)
	}
}

// record records a frame before it is sent: the send time must not be later than the
// moment at which the server can have seen the frame. It returns false if the
// connection is over and nothing may be sent any more.
func (c *Conn) record(frame []byte) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.gone.Given(), c.closing:
		return false
	case !c.attached:
		c.await(inFlight{at: now})
		return true
	case len(frame) < frameHeader+8:
		return true
	}
	f := inFlight{xid: be32(frame[4:]), op: be32(frame[8:]), at: now}
	c.closing = f.xid == xidClose
	if f.xid == xidPing {
		c.pings = append(c.pings, now)
	} else {
		c.await(f)
	}
	return true
}

// await adds a request to those in flight. Those that were answered have left room at
// the front, which is used when there is none behind. The caller has the lock.
func (c *Conn) await(f inFlight) {
	if len(c.sent) == cap(c.sent) {
		if len(c.sent) > cap(c.room)/2 {
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
			if i == 0 {
				c.sent, c.first = c.sent[1:], time.Now()
			} else {
				c.sent = append(c.sent[:i], c.sent[i+1:]...)
			}
			return f, true
		}
	}
	return inFlight{}, false
}

// SettingWatches reports whether a request to set watches again is under way.
func (c *Conn) SettingWatches() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.sent, func(f inFlight) bool { return f.op == opSetWatches })
}
