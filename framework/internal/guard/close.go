package guard

import "fmt"

// drop breaks the connection; the library attaches again.
func (c *Conn) drop(cause error) {
	c.broke(cause)
	_ = c.Close()
}

// broke records why the connection broke. Errors that show after the connection was
// closed are no reason: the socket only knows that it was closed.
func (c *Conn) broke(err error) {
	if c.gone.Given() {
		return
	}
	attached := c.isAttached()
	if !attached {
		err = c.explainHandshake(err)
	}
	refused := attached && c.guard.servers.refuses(c.addr) // and the server then closes the connection
	if c.guard.ctx.Err() == nil && !refused {
		c.guard.servers.failed(c.addr, err)
	}
	err = fmt.Errorf("connection to %s broke: %v", c.addr, err) //nolint:errorlint // as text: it must not look like the end of a caller's context
	c.guard.broken.Store(&err)
}

// Close notifies the session that the connection is gone, and closes it. It does not
// wait for that: closing may block, and the end of a session, or of the trust in it,
// must not. It is idempotent; only the first call waits until the session was notified.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.gone.Given() {
		c.mu.Unlock()
		return nil
	}
	c.gone.Give()
	c.mu.Unlock()
	c.ended = c.guard.servers.closeAside(c.Conn)
	c.guard.detached(c)
	c.abandon()
	c.notified.Give()
	return nil
}
