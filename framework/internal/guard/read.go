package guard

import (
	"errors"
	"fmt"
	"time"
)

// Read reads the server's frames, on the library's goroutine for that. The library gets
// only the answer to its connect request. The others are answers to requests of package
// framework and of the guard, events, and answers to the library's pings, which it
// would ignore.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.frame) == 0 {
		if err := c.nextFrame(); err != nil {
			if why := c.writeErr.Load(); why != nil {
				err = *why
			}
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
		return fmt.Errorf("%w: a length of %d bytes", ErrMalformed, size)
	case !attached:
		return c.onConnectReply(size)
	case size < replyHeader:
		return fmt.Errorf("%w: an answer of %d bytes", ErrMalformed, size)
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
		return fmt.Errorf("%w: a connect reply of %d bytes", ErrMalformed, size)
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
		return fmt.Errorf("%w: a connect reply before the request", ErrMalformed)
	}
	asked := c.sent[0].at
	c.sent = nil
	c.mu.Unlock()
	if err := c.guard.handshake(c, r, asked); err != nil {
		return err
	}
	if c.frame, err = c.load(frameHeader + size); err != nil {
		return err
	}
	err = c.Conn.SetDeadline(time.Time{}) // before anything is written that takes longer
	c.attach()
	return err
}

// onHeader inspects the header of an answer or event. It does what need not wait for
// the rest of the frame.
func (c *Conn) onHeader(a *inbound) error {
	c.mu.Lock()
	c.receivedAt = time.Now()
	ok := false
	if a.xid != xidEvent {
		a.to, ok = c.answered(a.xid)
		c.answering = a.to.request
	}
	c.inFrame = frameHeader+a.size > c.read.Buffered()
	c.mu.Unlock()
	switch {
	case a.xid >= 0 && !ok:
		return fmt.Errorf("%w: an answer to no request", ErrMalformed)
	case a.code > 0:
		return fmt.Errorf("%w: error code %d", ErrMalformed, a.code)
	case !ok:
		return nil
	}
	c.guard.recordZxid(a.zxid)
	if a.to.request != nil && c.isSettled() {
		c.guard.told.Store(max(a.zxid, c.guard.told.Load()))
	}
	end := multiEnd{committed: true}
	if a.to.op == OpMulti && a.code == 0 {
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
	case a.xid == xidFirst:
		return c.onFirst(a.to.op, a.code)
	case a.xid == xidClose:
		c.guard.closed.Give()
		return errCloseAnswered
	}
	return nil
}

// deliver reads the rest of a frame, and hands it to whom it is for.
func (c *Conn) deliver(a inbound) error {
	limit := c.guard.cfg.MaxReplyBytes
	switch {
	case a.size <= limit:
	case a.to.request == nil:
		return fmt.Errorf("%w: %d bytes that no request asked for, the limit is %d", ErrMalformed, a.size, limit)
	default:
		c.skip = frameHeader + a.size // Read discards it next
		err := largeAnswer(a.size)
		if a.code != 0 { // which is all there is to know
			err = nil
		}
		c.answer(Answer{Zxid: a.zxid, Code: a.code, Err: err})
		return nil
	}
	frame, err := c.load(frameHeader + a.size)
	if err != nil {
		return err
	}
	body := frame[frameHeader+replyHeader:]
	switch {
	case a.xid == xidEvent:
		return c.onEvent(a.zxid, body)
	case a.to.request == nil:
		return nil
	case a.code == 0:
		err = checkAnswer(a.to.op, body) // which also ends the connection
	}
	c.answer(Answer{Zxid: a.zxid, Code: a.code, Body: body, Err: err})
	return err
}

// onEvent reports what a watch has seen.
func (c *Conn) onEvent(zxid int64, body []byte) error {
	kind, path, err := parseEvent(body)
	if err != nil {
		return err
	}
	c.guard.recordZxid(zxid)
	c.guard.events.Event(kind, path)
	return nil
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

// discard reads the rest of a frame that is too large.
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
