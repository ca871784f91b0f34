package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Read hands the server's frames to the library, each after it has arrived completely
// and was found to be well-formed. The library trusts the lengths in an answer, and
// crashes the process on some that are wrong; see checkAnswer.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.frame) == 0 { // not every frame is for the library
		c.frame = nil // it may have been large
		if err := c.nextFrame(); err != nil {
			if !errors.Is(err, errCloseAnswered) {
				c.broke(err)
			}
			_ = c.Close() // notifies the session before the library can dial again
			return 0, err
		}
	}
	n := copy(p, c.frame)
	c.frame = c.frame[n:]
	return n, nil
}

// errCloseAnswered ends the library's reading after the answer to our close request.
var errCloseAnswered = errors.New("session closed")

// nextFrame reads the next frame and leaves in c.frame the part for the library.
func (c *Conn) nextFrame() error {
	if c.readErr != nil {
		return c.readErr
	}
	if err := c.discard(); err != nil {
		return err
	}
	head, err := c.read.Peek(frameHeader)
	if err != nil {
		return err
	}
	attached := c.isAttached()
	if !attached && startsTLS(head) {
		return errAnswersTLS
	}
	size := int(be32(head))
	switch {
	case size < 0:
		return fmt.Errorf("%w: a length of %d bytes", errShortFrame, size)
	case !attached:
		return c.onConnectReply(size)
	case size < replyHeader:
		return fmt.Errorf("%w: an answer of %d bytes", errShortFrame, size)
	}
	head, err = c.read.Peek(frameHeader + replyHeader)
	if err != nil {
		return err
	}
	a := inbound{size: size, xid: be32(head[4:]), zxid: be64(head[8:]), code: be32(head[16:])}
	if err := c.onHeader(&a); err != nil {
		return err
	}
	return c.deliver(a)
}

// An inbound is an answer or an event whose header has arrived.
type inbound struct {
	size int // without the length field
	xid  int32
	zxid int64
	code int32
	to   inFlight // the request that it answers
}

// onConnectReply inspects the connect reply. A session other than the guard's own never
// reaches the library.
func (c *Conn) onConnectReply(size int) error {
	if size > 1<<10 {
		return fmt.Errorf("%w: a connect reply of %d bytes", errShortFrame, size)
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
		return fmt.Errorf("%w: a connect reply before the request", errShortFrame)
	}
	asked := c.sent[0].at
	c.sent = nil
	c.attached = r.session != 0
	c.mu.Unlock()
	if err := c.guard.handshake(c, r, asked); err != nil {
		return err
	}
	if c.frame, err = c.load(frameHeader + size); err != nil {
		return err
	}
	return c.Conn.SetDeadline(time.Time{})
}

// onHeader inspects the header of an answer or event. It does what need not wait for
// the rest of the frame.
func (c *Conn) onHeader(a *inbound) error {
	c.mu.Lock()
	c.receivedAt = time.Now()
	ok := false
	if a.xid != xidEvent {
		a.to, ok = c.answered(a.xid)
	}
	c.inFrame = frameHeader+a.size > c.read.Buffered()
	c.mu.Unlock()
	switch {
	case a.xid >= 0 && !ok: // the library may wait for this xid all the same
		return fmt.Errorf("%w: an answer to no request", errShortFrame)
	case a.code > 0:
		return fmt.Errorf("%w: error code %d", errShortFrame, a.code)
	case !ok:
		return nil
	}
	c.guard.recordZxid(a.zxid)
	end := multiEnd{committed: true}
	if a.to.op == opMulti && a.code == 0 {
		frame, err := c.read.Peek(min(frameHeader+a.size, readAhead))
		if err != nil {
			return err
		}
		end = parseMultiEnd(frame[frameHeader+replyHeader:])
	}
	c.prove(a.to, a.code, end)
	switch {
	case a.xid <= xidVouch:
		return c.onVouchAnswer(a.code, end)
	case end.code == codeMoved: // servers from 3.6 on close the connection themselves
		return errMoved
	case a.to.op == opSetWatches:
		c.guard.events.WatchesRestored(a.code == 0)
	case a.xid == xidClose:
		c.guard.closed.Give()
		return errCloseAnswered
	}
	return nil
}

// deliver reads the rest of a frame. The library gets the frame, or in place of it only
// a header that says what is wrong with it.
func (c *Conn) deliver(a inbound) error {
	limit := c.guard.cfg.MaxReplyBytes
	request := a.xid >= 0 && a.to.op != opSetAuth && a.to.op != opSetWatches // a request of package framework
	switch {
	case a.size <= limit:
	case !request:
		return fmt.Errorf("%w: %d bytes that no request asked for, the limit is %d", errShortFrame, a.size, limit)
	default:
		c.skip = frameHeader + a.size // Read discards it next
		if a.code == 0 {              // else the code is all there is to know
			a.code = int32(a.size) // see RefusedSize
		}
		c.deliverHeader(a)
		return nil
	}
	frame, err := c.load(frameHeader + a.size)
	if err != nil {
		return err
	}
	body := frame[frameHeader+replyHeader:]
	switch {
	case a.xid == xidRemoveWatch:
		c.onRemoved(a.code)
		return nil
	case a.xid == xidEvent: // the library ignores its error code
		if err := checkEvent(body); err != nil {
			return err
		}
		c.guard.recordZxid(a.zxid)
	case a.code != 0, a.xid < 0: // the library ignores the body
	default:
		if err := checkAnswer(a.to.op, body); err != nil {
			if !request {
				return err
			}
			c.readErr = err // ends the connection, after the caller has its error
			a.code = codeMalformed
			c.deliverHeader(a)
			return nil
		}
		c.guard.created(a.to.op, a.zxid, body)
	}
	binary.BigEndian.PutUint32(frame[frameHeader+replyHeader-4:], uint32(substituteCode(a.code)))
	c.frame = frame
	return nil
}

// deliverHeader hands the library an answer that is only a header.
func (c *Conn) deliverHeader(a inbound) {
	c.frame = message(c.buffer[:0]).numbers(replyHeader, a.xid, int32(a.zxid>>32), int32(a.zxid), substituteCode(a.code))
}

// keptBuffer is the largest buffer that is kept for the next frame. The library keeps
// one of 1.5 MiB.
const keptBuffer = 256 << 10

// load reads size bytes. It allocates memory only as they arrive.
func (c *Conn) load(size int) ([]byte, error) {
	b := c.buffer[:0]
	for len(b) < size {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(size, 4*cap(b))), b...)
			if cap(b) <= keptBuffer {
				c.buffer = b[:cap(b)]
			}
		}
		n, err := c.next(b[len(b):min(size, cap(b))], size-len(b))
		if err != nil {
			return nil, err
		}
		b = b[:len(b)+n]
	}
	return b, nil
}

// discard reads the rest of a frame that is not handed to the library.
func (c *Conn) discard() error {
	for c.skip > 0 {
		n, err := c.next(c.buffer[:min(c.skip, len(c.buffer))], c.skip)
		if err != nil {
			return err
		}
		c.skip -= n
	}
	return nil
}

// next reads the available bytes of a frame, and records that the server is not silent.
// missing is the number of bytes missing before the call.
func (c *Conn) next(b []byte, missing int) (int, error) {
	n, err := c.read.Read(b)
	if n == missing && !c.inFrame { // it arrived together with its header
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.receivedAt = time.Now()
	c.first = c.receivedAt // the next answer had to wait for this frame
	c.inFrame = missing-n > c.read.Buffered()
	return n, err
}
