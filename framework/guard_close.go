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
