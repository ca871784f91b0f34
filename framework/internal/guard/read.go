package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Read hands the server's frames to the library, each when it has come as a whole and
// was found to be well-formed: the library decodes by what an answer says of itself,
// and ends the process over some that do not keep to it; see checkAnswer.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.frame) == 0 { // not each is for the library
		c.frame = nil // it may have been large
		if err := c.nextFrame(); err != nil {
			if !errors.Is(err, errCloseAnswered) {
				c.broke(err)
			}
			_ = c.Close() // tells the session before the library can dial again
			return 0, err
		}
	}
	n := copy(p, c.frame)
	c.frame = c.frame[n:]
	return n, nil
}

// errCloseAnswered ends the library's reading after the answer to our close request.
var errCloseAnswered = errors.New("session closed")

// nextFrame reads the next frame and leaves in c.frame what the library gets of it.
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

// An inbound is an answer, or an event, of which the header has come.
type inbound struct {
	size int // of what follows the length
	xid  int32
	zxid int64
	code int32
	to   inFlight // what it answers
}

// beginSession looks at the connect reply. A session that is not the one this guard
// serves never reaches the library.
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

// begins looks at the header of an answer or event. It does what does not have to wait
// for the rest.
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
	case a.xid >= 0 && !ok: // the library may wait for it all the same
		return fmt.Errorf("%w: an answer to nothing that was asked", errShortFrame)
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
	case end.code == codeMoved: // releases from 3.6 on hang up themselves
		return errMoved
	case a.to.op == opSetWatches:
		c.guard.events.WatchesRestored(a.code == 0)
	case a.xid == xidClose:
		c.guard.closed.Give()
		return errCloseAnswered
	}
	return nil
}

// deliver reads the rest of a frame. The library gets it, or in its place the header of
// an answer that says what is wrong with it.
func (c *Conn) deliver(a inbound) error {
	limit := c.guard.cfg.MaxReplyBytes
	request := a.xid >= 0 && a.to.op != opSetAuth && a.to.op != opSetWatches // of this package
	switch {
	case a.size <= limit:
	case !request:
		return fmt.Errorf("%w: %d bytes that nobody asked for, the limit is %d", errShortFrame, a.size, limit)
	default:
		c.skip = frameHeader + a.size // that takes its time
		if a.code == 0 {              // else it says all there is to know
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
	case a.xid == xidEvent: // the library does not look at its code
		if err := checkEvent(body); err != nil {
			return err
		}
		c.guard.recordZxid(a.zxid)
	case a.code != 0, a.xid < 0: // the library does not read the body
	default:
		if err := checkAnswer(a.to.op, body); err != nil {
			if !request {
				return err
			}
			c.readErr = err // when whoever asked has been told
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

// substitute makes the library read an answer that is nothing but a header.
func (c *Conn) deliverHeader(a inbound) {
	c.frame = message(c.buffer[:0]).numbers(replyHeader, a.xid, int32(a.zxid>>32), int32(a.zxid), substituteCode(a.code))
}

// keptBuffer is how large a buffer may be that is kept for the next frame. The library
// keeps one of 1.5 MiB.
const keptBuffer = 256 << 10

// load reads so many bytes. It takes memory as they come.
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

// discard reads what is left of a frame in place of which the library got another.
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

// next reads of a frame what there is, and notes that the server is not silent. So many
// bytes are missing before.
func (c *Conn) next(b []byte, missing int) (int, error) {
	n, err := c.read.Read(b)
	if n == missing && !c.inFrame { // it was there with its header, which was noted
		return n, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.receivedAt = time.Now()
	c.first = c.receivedAt // what comes next had to wait for this frame
	c.inFrame = missing-n > c.read.Buffered()
	return n, err
}
