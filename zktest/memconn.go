package zktest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// memAddr is the address of one end of an in-memory connection.
type memAddr string

func (memAddr) Network() string  { return "mem" }
func (a memAddr) String() string { return string(a) }

// pipe carries bytes in one direction. Its buffer has no limit, so a writer never
// waits. With net.Pipe two writers without a reader would block on a mutex, which stops
// virtual time for good.
type pipe struct {
	mu       sync.Mutex
	cond     *sync.Cond
	buf      []byte
	writable bool // the writing end is open
	readable bool // the reading end is open
	deadline time.Time
	timer    *time.Timer // made with the first deadline
	timerAt  time.Time   // when the timer fires, zero for never
}

func newPipe() *pipe {
	p := &pipe{writable: true, readable: true}
	p.cond = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case !p.readable:
			return 0, net.ErrClosed
		case p.expired():
			return 0, os.ErrDeadlineExceeded
		case len(p.buf) > 0:
			n := copy(b, p.buf)
			if p.buf = p.buf[n:]; len(p.buf) == 0 {
				p.buf = nil
			}
			return n, nil
		case !p.writable:
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		}
		p.cond.Wait()
	}
}

func (p *pipe) expired() bool {
	return !p.deadline.IsZero() && !time.Now().Before(p.deadline)
}

func (p *pipe) write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.writable:
		return 0, net.ErrClosed
	case !p.readable:
		return 0, io.ErrClosedPipe
	}
	p.buf = append(p.buf, b...)
	p.cond.Broadcast()
	return len(b), nil
}

// pending returns the number of unread bytes, and whether more may come.
func (p *pipe) pending() (n int, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.buf), p.writable
}

// closeRead closes the reading end; bytes in the pipe are dropped.
func (p *pipe) closeRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readable = false
	p.buf = nil
	if p.timer != nil {
		p.timer.Stop()
	}
	p.cond.Broadcast()
}

// closeWrite closes the writing end; the reader gets the bytes in the pipe and then the
// end.
func (p *pipe) closeWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writable = false
	p.cond.Broadcast()
}

// setDeadline limits reads; writes never wait. Clients move the deadline with every
// frame, so a timer that fires early enough is left alone, and checks the deadline
// then.
func (p *pipe) setDeadline(t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	if p.expired() {
		p.cond.Broadcast()
		return
	}
	p.armLocked()
}

// armLocked makes the timer fire at the deadline or before.
func (p *pipe) armLocked() {
	if p.deadline.IsZero() || !p.readable || !p.timerAt.IsZero() && !p.timerAt.After(p.deadline) {
		return
	}
	p.timerAt = p.deadline
	if p.timer == nil {
		p.timer = time.AfterFunc(time.Until(p.timerAt), p.onTimer)
		return
	}
	p.timer.Reset(time.Until(p.timerAt))
}

// onTimer runs when the timer fires.
func (p *pipe) onTimer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timerAt = time.Time{}
	if p.expired() {
		p.cond.Broadcast()
		return
	}
	p.armLocked()
}

// memConn is one end of an in-memory connection.
type memConn struct {
	in, out       *pipe
	local, remote memAddr
	pastWrites    struct {
		sync.Mutex
		deadline time.Time
	}
}

// newMemConns returns the two ends of a connection.
func newMemConns(client, server memAddr) (clientEnd, serverEnd *memConn) {
	up, down := newPipe(), newPipe()
	return &memConn{in: down, out: up, local: client, remote: server},
		&memConn{in: up, out: down, local: server, remote: client}
}

func (c *memConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.wrap("read", err)
}

func (c *memConn) Write(b []byte) (int, error) {
	c.pastWrites.Lock()
	deadline := c.pastWrites.deadline
	c.pastWrites.Unlock()
	if !deadline.IsZero() && !time.Now().Before(deadline) {
		return 0, c.wrap("write", os.ErrDeadlineExceeded)
	}
	n, err := c.out.write(b)
	return n, c.wrap("write", err)
}

// wrap makes errors look like those of a real connection; io.EOF stays as it is, too.
func (c *memConn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.remote, Err: err}
}

func (c *memConn) Close() error {
	c.in.closeRead()
	c.out.closeWrite()
	return nil
}

func (c *memConn) LocalAddr() net.Addr  { return c.local }
func (c *memConn) RemoteAddr() net.Addr { return c.remote }

func (c *memConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *memConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

func (c *memConn) SetWriteDeadline(t time.Time) error {
	c.pastWrites.Lock()
	defer c.pastWrites.Unlock()
	c.pastWrites.deadline = t
	return nil
}
