package zktest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// conn is one connection. Two goroutines serve it, started by Server.serve and waited
// for by Server.Close: one reads and handles its requests in order, one sends what is
// in its queue. Both end when the connection does.
type conn struct {
	server  *Server
	nc      net.Conn
	client  string // the name it was dialled under, else its address; set before the first frame is looked at
	key     string // names the connection the same way in every run; set in the handshake, if there is a stepper
	address string // host part of the remote address
	out     *outQueue
	done    chan struct{} // closed when the connection ends
	told    int           // the stepper's moment at which the client was sent something; the sending goroutine's

	// Guarded by the server's mutex.
	session    *session
	auth       []jute.ID // replaced, never changed in place
	replica    *replica
	minority   *Minority // nil on the majority's side
	closed     bool
	mute       bool // reads and answers nothing any more
	waiting    bool // has a whole request at hand that a pause may keep from being looked at
	doomed     bool // has lost bytes in a partition: cannot be used after it
	lastQueued bool // its last reply is in the queue
}

// read is the connection's reading goroutine.
func (c *conn) read() {
	defer c.server.wg.Done()
	defer c.cut()
	in := bufio.NewReaderSize(c.nc, 4096)
	c.serve(in)
	c.awaitHeal()
}

// serve reads and handles requests until there is a reason to stop.
func (c *conn) serve(in *bufio.Reader) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return
	}
	c.server.name(c)
	if c.server.fourLetterWord(c, string(head[:])) {
		c.drain(in)
		return
	}
	first, err := jute.ReadBody(in, int32(binary.BigEndian.Uint32(head[:])), jute.MaxFrame)
	if err != nil || !c.admit() {
		return
	}
	if !c.ignoring() && !c.handshake(first) {
		c.drain(in)
		return
	}
	for {
		frame, err := jute.ReadFrame(in, jute.MaxFrame)
		if err != nil || !c.admit() {
			return
		}
		if c.ignoring() {
			continue
		}
		if !c.handleAll(frame, in) {
			c.drain(in)
			return
		}
	}
}

// handleAll handles a request and, if the server may pick their order, all that came
// with it. It tells whether the connection goes on.
func (c *conn) handleAll(frame []byte, in *bufio.Reader) bool {
	if c.shuffles() {
		return c.handleShuffled(frame, in)
	}
	return c.server.step(c.key) && c.handle(frame)
}

// drain throws away what the client still sends until the connection ends, so that its
// end is noticed while the last reply is on its way. It returns at once if nothing is.
func (c *conn) drain(in io.Reader) {
	if c.leaving() {
		_, _ = io.Copy(io.Discard, in)
	}
}

// write is the connection's sending goroutine.
func (c *conn) write() {
	defer c.server.wg.Done()
	defer c.cut()
	var buf []byte
	for {
		batch := c.out.next(c.server.stepper == nil)
		if batch == nil {
			return
		}
		waited := c.server.severed(c)
		if wait := time.Until(batch[0].after); !batch[0].after.IsZero() && wait > 0 {
			if waited = true; !c.sleep(wait) {
				return
			}
		}
		open, lost := c.server.awaitLink(c)
		if !open || !c.inTurn(waited) {
			return
		}
		if !lost {
			buf = buf[:0]
			for _, p := range batch {
				buf = append(buf, p.frame...)
			}
			if _, err := c.nc.Write(buf); err != nil {
				// The client has hung up. What it sent before is still heard, and the
				// reading goroutine then finds the end.
				c.out.mute()
				<-c.done
				return
			}
		}
		if batch[len(batch)-1].last {
			return
		}
	}
}

// sleep waits and tells whether the connection still stands.
func (c *conn) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.done:
		return false
	}
}

// admit holds a request that has arrived until the link and the server let it through.
// It tells whether the connection still stands.
func (c *conn) admit() bool {
	s := c.server
	s.mu.Lock()
	c.waiting = true
	s.mu.Unlock()
	open, lost := s.awaitLink(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiting = false
	c.doomed = c.doomed || lost
	return open
}

// ignoring tells whether what the client sends is to be thrown away.
func (c *conn) ignoring() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.mute || c.doomed
}

// ended tells whether the connection is over.
func (c *conn) ended() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.closed
}

// leaving tells whether the connection will end by itself once its queue is sent.
func (c *conn) leaving() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.lastQueued && !c.closed
}

// silence makes the connection read and answer nothing any more, without ending it.
func (c *conn) silence() {
	c.server.mu.Lock()
	c.mute = true
	c.server.mu.Unlock()
	c.out.mute()
}

// cut ends the connection. It may be called more than once and from anywhere.
func (c *conn) cut() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.detachLocked()
}

// detachLocked ends the connection and makes the server forget it. Its session lives
// on. While the link to the client is severed, the client must not see the end; the
// socket then lingers until the link is whole again.
func (c *conn) detachLocked() {
	if c.closed {
		return
	}
	s := c.server
	c.closed = true
	close(c.done)
	c.out.close()
	c.replica.forget(c)
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	delete(s.labels, c.nc.RemoteAddr().String())
	s.conns = slices.DeleteFunc(s.conns, func(x *conn) bool { return x == c })
	if s.linkLocked(c.client).severed() {
		s.lingering = append(s.lingering, c)
		return
	}
	_ = c.nc.Close()
}
