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

// conn is one connection. Server.accept starts two goroutines for it, and Server.Close
// waits for them: one reads and handles requests in order, one sends the frames in the
// queue. Both end with the connection.
type conn struct {
	server  *Server
	nc      net.Conn
	client  string // the name given to Dial, else the address; set before the first frame is handled
	key     string // the connection's name for the stepper, the same in every run; set in the handshake
	address string // host part of the remote address
	out     *outQueue
	done    chan struct{} // closed when the connection ends
	sentAt  int           // the stepper's moment of the last send; for the sending goroutine only

	// Guarded by the server's mutex.
	session    *session
	auth       []jute.ID // replaced, never changed in place
	replica    *replica
	minority   *Minority // nil on the side of the majority
	closed     bool
	mute       bool // handles and answers nothing any more
	waiting    bool // has a request that a pause may keep from being handled
	doomed     bool // a partition has dropped bytes: not usable after it
	lastQueued bool // the last reply is in the queue
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

// handleAll handles a request and, if the server may pick their order, all that arrived
// with it. It reports whether the connection goes on.
func (c *conn) handleAll(frame []byte, in *bufio.Reader) bool {
	if c.shuffles() {
		return c.handleShuffled(frame, in)
	}
	return c.server.step(c.key) && c.handle(frame)
}

// drain discards what the client still sends, so that the end of the connection is
// noticed while the last reply is sent. Without a last reply it returns at once.
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
		waited := c.server.blocked(c)
		if wait := time.Until(batch[0].after); !batch[0].after.IsZero() && wait > 0 {
			if waited = true; !c.sleep(wait) {
				return
			}
		}
		open, dropped := c.server.awaitLink(c)
		if !open || !c.awaitStep(waited) {
			return
		}
		if !dropped {
			buf = buf[:0]
			for _, p := range batch {
				buf = append(buf, p.frame...)
			}
			if _, err := c.nc.Write(buf); err != nil {
				// The client has closed the connection. Its earlier requests are still
				// handled, and the reading goroutine then finds the end.
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

// sleep waits, and reports whether the connection is still open.
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

// admit delays a request until the link and the server let it through. It reports
// whether the connection is still open.
func (c *conn) admit() bool {
	s := c.server
	s.mu.Lock()
	c.waiting = true
	s.mu.Unlock()
	open, dropped := s.awaitLink(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiting = false
	c.doomed = c.doomed || dropped
	return open
}

// ignoring reports whether the client's requests are to be discarded.
func (c *conn) ignoring() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.mute || c.doomed
}

// ended reports whether the connection is closed.
func (c *conn) ended() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.closed
}

// leaving reports whether the connection ends by itself once its queue is sent.
func (c *conn) leaving() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.lastQueued && !c.closed
}

// silence makes the connection handle and answer nothing any more. It stays open.
func (c *conn) silence() {
	c.server.mu.Lock()
	c.mute = true
	c.server.mu.Unlock()
	c.out.mute()
}

// cut ends the connection. It may be called more than once, from any goroutine.
func (c *conn) cut() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.detachLocked()
}

// detachLocked ends the connection and makes the server forget it. Its session lives
// on. While the link to the client is blocked the client must not see the end, so the
// socket stays open until then.
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
	if s.linkLocked(c.client).blocked() {
		s.lingering = append(s.lingering, c)
		return
	}
	_ = c.nc.Close()
}
