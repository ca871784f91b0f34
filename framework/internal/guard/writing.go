package guard

import "time"

// Frames are put in order in a buffer, and one goroutine of the connection writes what
// has come together. So nobody waits for the network to send something, and many
// requests that come at once cost one write.

// keptOut is the largest buffer that is kept for what is sent next.
const keptOut = 64 << 10

// Write sends one frame of the library.
func (c *Conn) Write(frame []byte) (int, error) {
	if !c.isAttached() {
		frame = withZxid(frame, c.guard.zxid.Load())
	}
	c.post(frame)
	return len(frame), nil
}

// post sends a frame. It returns false if the connection is over and nothing may be
// sent any more.
func (c *Conn) post(frame []byte) bool {
	c.order.Lock()
	defer c.order.Unlock()
	return c.append(frame)
}

// append puts a frame behind all others. The caller has the lock of the order.
func (c *Conn) append(frame []byte) bool {
	var f inFlight
	if len(frame) >= frameHeader+8 {
		f = inFlight{xid: be32(frame[4:]), op: be32(frame[8:])}
	}
	if !c.record(f) {
		return false
	}
	c.out = append(c.out, frame...)
	c.wake()
	return true
}

// wake has the goroutine look that writes.
func (c *Conn) wake() {
	select {
	case c.written <- struct{}{}:
	default:
	}
}

// writeAll writes what is sent, until the connection is gone. The library does not get
// its errors, on some of which it deadlocks.
func (c *Conn) writeAll() {
	var spare []byte
	for {
		select {
		case <-c.written:
		case <-c.gone.Done():
			return
		}
		c.order.Lock()
		if c.gone.Given() {
			c.order.Unlock()
			return
		}
		frames := c.out
		c.out = spare[:0]
		c.order.Unlock()
		if len(frames) > 0 {
			if _, err := c.Conn.Write(frames); err != nil {
				c.cannotWrite(err)
				return
			}
		}
		if spare = frames; cap(spare) > keptOut {
			spare = nil
		}
	}
}

// answersGrace is how long answers are read from a connection that cannot be written.
const answersGrace = 100 * time.Millisecond

// cannotWrite ends the connection because of an error, when the answers have been read
// that the server may have sent before it closed the connection.
func (c *Conn) cannotWrite(err error) {
	if c.gone.Given() {
		return
	}
	c.writeErr.Store(&err)
	_ = c.Conn.SetReadDeadline(time.Now().Add(answersGrace))
}
