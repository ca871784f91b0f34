package framework

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// guardConn stands between the client library and a connection. It sees every
// frame, and from them it learns what the library does not tell: when each
// request was sent and answered (for the trust deadline and the request
// timeout), the negotiated timeout and the session's id and password, the zxid
// of creates, and whether the watches were set again. It bounds the handshake,
// and it swallows write errors, because the library answers some of them by
// locking itself up; the broken socket shows on the reading side at once.
//
// The library writes each frame with one Write, from one goroutine at a time.
type guardConn struct {
	net.Conn
	guard *guard
	addr  string
	slot  chan struct{} // held while writing; a channel, so that waiting for it can end
	read  *bufio.Reader

	mu        sync.Mutex
	sent      []inFlight // requests and the connect request, oldest first
	first     time.Time  // when the oldest of them could be answered next
	inFrame   bool       // the rest of a frame has not arrived yet
	pings     []time.Time
	heard     time.Time     // when the newest bytes arrived
	attached  bool          // handshake complete
	closing   bool          // our close request was sent
	begun     bool          // the library has presented the credentials and sent something else
	vouching  []*reliedNode // what a quorum is being asked about; nil if it is not
	dead      bool
	remaining int  // bytes of the present inbound frame still to hand over
	patching  bool // the frame's error code is to be replaced by patch
	patch     int32
	patchEnd  int // bytes of the frame behind the error code

	holding    bool                  // requests wait until watches were set again
	holdingAll bool                  // the requests to set watches as well
	held       [][]byte              // these
	dropped    atomic.Pointer[error] // why we break it, nil unless we do
	isClosed   atomic.Bool
	gone       chan struct{} // closed when the connection is closed
	told       chan struct{} // closed when the session has been told of that, too
}

type inFlight struct {
	xid int32
	op  int32
	at  time.Time
}

// readAhead is how much of a frame can be looked at before it is handed over: a
// connect reply, or the header of an answer and the path of a node.
const readAhead = 16 << 10

func newGuardConn(g *guard, addr string, conn net.Conn, deadline time.Time) *guardConn {
	c := &guardConn{
		Conn: conn, guard: g, addr: addr, slot: make(chan struct{}, 1),
		read: bufio.NewReaderSize(conn, readAhead), gone: make(chan struct{}), told: make(chan struct{}),
	}
	_ = conn.SetDeadline(deadline) // for the handshake
	return c
}

// Close closes the connection and tells the session. It is idempotent; only the
// first call waits for all that.
func (c *guardConn) Close() error {
	if !c.isClosed.CompareAndSwap(false, true) {
		return nil
	}
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
	conn := c.Conn
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.NetConn() // which does not try to say good-bye first
	}
	err := conn.Close()
	close(c.gone)
	c.guard.detached(c)
	close(c.told)
	return err
}

// SetReadDeadline obeys the library only after the handshake, for which it would
// wait up to 6.67 session timeouts.
func (c *guardConn) SetReadDeadline(t time.Time) error {
	if !c.isAttached() {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline does the same for writing.
func (c *guardConn) SetWriteDeadline(t time.Time) error {
	if !c.isAttached() {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

func (c *guardConn) isAttached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attached
}

// Write sends one frame of the library.
func (c *guardConn) Write(frame []byte) (int, error) {
	select {
	case c.slot <- struct{}{}:
	case <-c.gone:
		return len(frame), nil
	}
	defer func() { <-c.slot }()
	op, attached := operation(frame), c.isAttached()
	switch {
	case !attached:
		frame = withZxid(frame, c.guard.zxid.Load())
	case op != opSetAuth && op != opPing:
		c.begin()
	}
	setsWatches := attached && op == opSetWatches
	if setsWatches {
		c.guard.events.settingWatches()
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
func (c *guardConn) write(frame []byte) {
	if !c.note(frame) {
		return
	}
	if path, ok := createPath(frame); ok {
		c.guard.creates.sending(path)
	}
	if _, err := c.Conn.Write(frame); err != nil {
		c.broke(err)
		_ = c.Close()
	}
}

// note records a frame before it is sent: the send time must not be later than
// the moment at which the server can have seen it. It reports false if the
// connection is over and nothing may be sent any more.
func (c *guardConn) note(frame []byte) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.dead || c.closing:
		return false
	case !c.attached:
		c.sent = append(c.sent, inFlight{at: now})
		return true
	case len(frame) < frameHeader+8:
		return true
	}
	f := inFlight{xid: be32(frame[4:]), op: be32(frame[8:]), at: now}
	if f.xid == xidPing {
		c.pings = append(c.pings, now)
		return true
	}
	c.sent = append(c.sent, f)
	return true
}

// Read hands the server's bytes to the library, having looked at the beginning
// of each frame first.
func (c *guardConn) Read(p []byte) (int, error) {
	if c.remaining == 0 {
		if err := c.beginFrame(); err != nil {
			if !errors.Is(err, errCloseAnswered) {
				c.broke(err)
			}
			_ = c.Close() // tells the session before the library can dial again
			return 0, err
		}
	}
	n, err := c.read.Read(p[:min(len(p), c.remaining)])
	if err != nil {
		c.broke(err)
		_ = c.Close()
	}
	c.mu.Lock()
	c.heard = time.Now()
	if c.inFrame { // what comes next had to wait for this frame
		c.first = c.heard
	}
	c.inFrame = c.remaining-n > c.read.Buffered()
	c.mu.Unlock()
	c.applyPatch(p[:n])
	c.remaining -= n
	return n, err
}

// errCloseAnswered ends the library's reading after the answer to our close request.
var errCloseAnswered = errors.New("session closed")

func (c *guardConn) beginFrame() error {
	head, err := c.read.Peek(frameHeader)
	if err != nil {
		return err
	}
	if !c.isAttached() && startsTLS(head) {
		return errAnswersTLS
	}
	size := int(be32(head))
	if size < 0 || size > c.guard.cfg.MaxReplyBytes {
		return errShortFrame
	}
	c.remaining = frameHeader + size
	if !c.isAttached() {
		return c.beginSession(size)
	}
	if size < replyHeader {
		return errShortFrame
	}
	head, err = c.read.Peek(frameHeader + replyHeader)
	if err != nil {
		return err
	}
	return c.reply(be32(head[4:]), be64(head[8:]), be32(head[16:]))
}

// beginSession looks at the connect reply. A session that is not the one this
// guard serves never reaches the library.
func (c *guardConn) beginSession(size int) error {
	if size > 1<<10 {
		return errShortFrame
	}
	frame, err := c.read.Peek(frameHeader + size)
	if err != nil {
		return err
	}
	r, err := parseConnectReply(frame[frameHeader:])
	if err != nil {
		return err
	}
	c.mu.Lock()
	if len(c.sent) == 0 {
		c.mu.Unlock()
		return errShortFrame
	}
	asked := c.sent[0].at
	c.sent = nil
	c.attached = r.session != 0
	c.mu.Unlock()
	if err := c.guard.handshake(c, r, asked); err != nil {
		return err
	}
	return c.Conn.SetDeadline(time.Time{})
}

// reply looks at the header of an answer or event.
func (c *guardConn) reply(xid int32, zxid int64, code int32) error {
	c.guard.saw(zxid)
	if xid == xidEvent {
		c.mu.Lock()
		c.heard = time.Now()
		c.mu.Unlock()
		return nil
	}
	c.mu.Lock()
	c.heard = time.Now()
	f, ok := c.answered(xid)
	if other, known := standIns[code]; known {
		c.patching, c.patch, c.patchEnd = true, other, c.remaining-frameHeader-replyHeader
	}
	c.mu.Unlock()
	if !ok {
		return nil
	}
	end := multiEnd{committed: true}
	if f.op == opMulti && code == 0 {
		frame, err := c.read.Peek(min(c.remaining, readAhead))
		if err != nil {
			return err
		}
		end = parseMultiEnd(frame[frameHeader+replyHeader:])
	}
	c.prove(f, code, end)
	if xid <= xidVouch {
		return c.vouched(code, end)
	}
	if end.code == codeMoved { // releases from 3.6 on hang up themselves
		return errMoved
	}
	switch f.op {
	case opCreate, opContainer, opCreateTTL:
		if code == 0 {
			return c.created(zxid, 0)
		}
	case opMulti:
		if code == 0 {
			return c.createdFirst(zxid)
		}
	case opSetWatches:
		c.guard.watchesSet(code)
	case opClose:
		if xid == xidClose {
			c.guard.closeAnswered()
			return errCloseAnswered
		}
	}
	return nil
}

// answered removes the request with this xid from those in flight. Answers come
// in the order of the requests, pings aside, so it is the first one.
func (c *guardConn) answered(xid int32) (inFlight, bool) {
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

// applyPatch replaces the error code of the present frame where a stand-in was
// chosen. The library reads the header in one piece with the body, but nothing
// here depends on that: the bytes are replaced one by one as they pass.
func (c *guardConn) applyPatch(p []byte) {
	if !c.patching {
		return
	}
	for i := range p {
		// The code is the last four bytes of the header.
		if k := c.remaining - i - c.patchEnd; k >= 1 && k <= 4 {
			p[i] = byte(c.patch >> (8 * (k - 1)))
		}
	}
	c.patching = c.remaining-len(p) > c.patchEnd
}

// settingWatches reports whether a request to set watches again is under way.
func (c *guardConn) settingWatches() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.sent {
		if f.op == opSetWatches {
			return true
		}
	}
	return false
}
