package main

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A cable is all that connects a host with the server. When it is cut, nothing arrives
// any more, and neither side gets an error.
type cable struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu    sync.Mutex
	isCut bool
	ended bool
	ends  []net.Conn
}

func newCable(t *testing.T, server string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{listener: listener, server: server}
	ctx := t.Context()
	c.running.Go(func() { c.accept(ctx) })
	t.Cleanup(c.close)
	return c
}

func (c *cable) addr() string { return c.listener.Addr().String() }

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
}

func (c *cable) close() {
	c.mu.Lock()
	c.ended = true
	_ = c.listener.Close()
	for _, end := range c.ends {
		_ = end.Close()
	}
	c.mu.Unlock()
	c.running.Wait()
}

func (c *cable) accept(ctx context.Context) {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := new(net.Dialer).DialContext(ctx, "tcp", c.server)
		if err != nil {
			_ = near.Close()
			continue
		}
		c.mu.Lock()
		c.ends = append(c.ends, near, far)
		if c.ended {
			_, _ = near.Close(), far.Close()
		}
		c.mu.Unlock()
		c.running.Go(func() { c.carry(near, far) })
		c.running.Go(func() { c.carry(far, near) })
	}
}

// carry carries bytes in one direction, and the end of the connection.
func (c *cable) carry(from, to net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if !c.pass(to, buf[:n], err) || err != nil {
			return
		}
	}
}

// pass passes on what was read, unless the cable is cut.
func (c *cable) pass(to net.Conn, read []byte, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		return true // what is read is lost
	}
	if len(read) > 0 {
		if _, err := to.Write(read); err != nil {
			return false
		}
	}
	if err != nil {
		_ = to.Close()
	}
	return true
}
