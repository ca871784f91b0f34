package framework

import (
	"context"
	"io"
	"time"
)

// sendClose sends our own close request, after which nothing else is sent.
func (c *guardConn) sendClose(ctx context.Context) error {
	select {
	case c.slot <- struct{}{}:
	case <-c.gone:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return io.ErrClosedPipe
	}
	defer func() { <-c.slot }()
	c.mu.Lock()
	if c.dead || !c.attached {
		c.mu.Unlock()
		return io.ErrClosedPipe
	}
	c.closing = true
	c.sent = append(c.sent, inFlight{xid: xidClose, op: opClose, at: time.Now()})
	c.mu.Unlock()
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.Conn.SetWriteDeadline(deadline)
	}
	_, err := c.Conn.Write(closeRequest())
	return err
}

// Close tells the session that the connection is gone, and closes it, for which it does
// not wait: that may block, and the end of a session, or of the trust in it, must not. It
// is idempotent; only the first call waits until the session was told.
func (c *guardConn) Close() error {
	if !c.isClosed.CompareAndSwap(false, true) {
		return nil
	}
	c.mu.Lock()
	c.dead = true
	taken := c.taken
	c.taken = nil
	c.mu.Unlock()
	if taken != nil {
		c.guard.events.watchKept(*taken, false)
	}
	close(c.gone)
	c.ended = c.guard.book.callbacks.hangUp(c.Conn)
	c.guard.detached(c)
	close(c.told)
	return nil
}

// awaitEnd waits a moment for a connection that was given up to be closed, so that the
// server sees its end before it sees the next one.
func (c *guardConn) awaitEnd() {
	timer := time.NewTimer(callbackDelay)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
	}
}
