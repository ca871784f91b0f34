package framework_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// handshakeOnly returns a connection over which the connect request gets through, and
// nothing after it: further writes wait for their deadline or its end. The other
// direction works; if chatty, the server sends something all the time.
func handshakeOnly(conn net.Conn, chatty bool) net.Conn {
	near, far := net.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer far.Close()
		_, _ = io.Copy(far, conn)
	}()
	go func() {
		buf := make([]byte, 4096)
		n, err := far.Read(buf)
		if err == nil {
			_, err = conn.Write(buf[:n])
		}
		event := []byte{
			0, 0, 0, 30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
			0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 2, '/', 'x',
		}
		for chatty && err == nil {
			select {
			case <-time.After(time.Second):
				_, err = far.Write(event)
			case <-over:
				return
			}
		}
	}()
	return &pair{Conn: near, other: conn}
}

// pair closes two connections as one.
type pair struct {
	net.Conn
	other net.Conn
}

func (p *pair) Close() error {
	p.other.Close()
	return p.Conn.Close()
}

// backlogged runs a test at the moment at which a client has re-attached over a
// connection that takes nothing more, with requests in the library's queue.
func backlogged(t *testing.T, chatty bool, test func(t *testing.T, s *zktest.Server, c *framework.Client)) {
	t.Helper()
	t.Parallel()
	for range 10 { // how many requests are queued is a matter of luck
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			var j jam
			var bad atomic.Bool
			c := connect(t, s, clogging(&j), func(cfg *framework.Config) {
				clogged, plain := cfg.Dial, s.Dial("client")
				cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if !bad.CompareAndSwap(true, false) {
						return clogged(ctx, network, addr)
					}
					conn, err := plain(ctx, network, addr)
					if err != nil {
						return nil, err
					}
					return handshakeOnly(conn, chatty), nil
				}
			})
			// A watch that has fired: the client expects that watches are set again,
			// and the library has none.
			_, err := c.Create(t.Context(), "/node", nil, framework.Persistent)
			require.NoError(t, err)
			w := getWatch(t, c, "/node")
			set(t, c, "/node")
			fired(t, w)

			j.set(true)
			for i := range 60 {
				startErr(func() error {
					_, err := c.Create(t.Context(), fmt.Sprintf("/n%d", i), nil, framework.Ephemeral)
					return err
				})
			}
			synctest.Wait()
			bad.Store(true)
			s.DropConnections("client")
			j.set(false)
			time.Sleep(200 * time.Millisecond)
			require.False(t, bad.Load(), "attached")
			test(t, s, c)
		})
	}
}

// Requests that were queued when the connection broke are sent after the next
// handshake. If they cannot be sent, supervise must not hang: it has to notice the
// silence,
func TestBacklogThatCannotBeSentIsNoticedAsSilence(t *testing.T) {
	backlogged(t, false, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
		session := c.Session()
		time.Sleep(timeout / 2)
		_, _, err := c.Exists(within(t, time.Second), "/")
		require.NoError(t, err)
		assert.NoError(t, session.Err())
	})
}

// and the trust deadline kept.
func TestBacklogThatCannotBeSentDoesNotPutOffTheTrustDeadline(t *testing.T) {
	backlogged(t, true, func(t *testing.T, s *zktest.Server, c *framework.Client) {
		session := c.Session()
		s.RefuseConnections("client", true)
		until := session.TrustedUntil()
		<-session.Done()
		assert.Equal(t, until, time.Now())
		s.RefuseConnections("client", false)
	})
}
