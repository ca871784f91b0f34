package framework_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A stuckConn cannot be closed before its test is over.
type stuckConn struct {
	net.Conn
	test <-chan struct{}
}

func (c *stuckConn) Close() error {
	<-c.test
	return c.Conn.Close()
}

// A timelessConn knows no deadlines either.
type timelessConn struct{ stuckConn }

func (*timelessConn) SetDeadline(time.Time) error      { return nil }
func (*timelessConn) SetReadDeadline(time.Time) error  { return nil }
func (*timelessConn) SetWriteDeadline(time.Time) error { return nil }

// wrapping makes a client use connections that are wrapped.
func wrapping(wrap func(net.Conn) net.Conn) setting {
	return func(cfg *framework.Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return wrap(conn), nil
		}
	}
}

// stuckCloses is the time that Close may take if functions of the caller's never come
// back: a second for the server, three each for what they hold up and for themselves,
// and one that the library waits.
const stuckCloses = closeLimit + 2*3*time.Second + time.Second

func TestConnectionsThatCannotBeClosed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		var seen record
		c := connect(t, s, recording(&seen), wrapping(func(conn net.Conn) net.Conn { return &timelessConn{stuckConn{conn, over}} }))
		first := c.Session()
		s.Partition("client", true)
		began := time.Now()
		<-first.Done()
		assert.LessOrEqual(t, time.Since(began), timeout, "lost no later than any other")
		require.ErrorIs(t, first.Err(), framework.ErrTrustExpired)
		s.Partition("client", false)
		next, err := c.AwaitSession(within(t, time.Minute))
		require.NoError(t, err)
		assert.NotEqual(t, first.ID(), next.ID())
		s.Partition("client", true)
		assert.LessOrEqual(t, closes(t, c), stuckCloses)
		assert.Equal(t, []framework.State{framework.Connecting, connected, suspended, lost, connected, closed}, seen.states())
	})
}

// What closing does not do, a deadline does: the connection is left, and the session
// lives on another.
func TestSessionOutlivesAConnectionThatCannotBeClosed(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(s *zktest.Server, addr string){
		"hung up": func(s *zktest.Server, addr string) { s.DropConnections(addr) },
		"silent":  func(s *zktest.Server, addr string) { s.Partition(addr, true); time.Sleep(timeout / 3) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				over := make(chan struct{})
				t.Cleanup(func() { close(over) })
				c := connect(t, s, fronts(s, nil, "one:1", "two:1"),
					wrapping(func(conn net.Conn) net.Conn { return &stuckConn{conn, over} }))
				first := c.Session()
				lose(s, s.Sessions()[0].Client)
				_, _, err := c.Exists(within(t, time.Second), "/")
				require.NoError(t, err)
				assert.Same(t, first, c.Session())
				assert.LessOrEqual(t, closes(t, c), stuckCloses)
			})
		})
	}
}

// A countedConn tells when it is closed.
type countedConn struct {
	net.Conn
	open *atomic.Int32
}

func (c *countedConn) Close() error {
	c.open.Add(-1)
	return c.Conn.Close()
}

func TestDialThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		over := make(chan struct{})
		release := sync.OnceFunc(func() { close(over) })
		t.Cleanup(release)
		var stuck atomic.Bool
		var open atomic.Int32
		c := connect(t, s, wrapping(func(conn net.Conn) net.Conn { open.Add(1); return &countedConn{conn, &open} }), func(cfg *framework.Config) {
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if stuck.Load() {
					<-over
				}
				return dial(ctx, network, addr)
			}
		})
		first := c.Session()
		stuck.Store(true)
		s.DropConnections("client")
		synctest.Wait()
		_, _, err := c.Exists(within(t, 2*time.Second), "/")
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.ErrorContains(t, err, "has not returned although its context has ended")
		<-first.Done()
		stuck.Store(false)
		_, err = c.AwaitSession(within(t, time.Minute))
		require.NoError(t, err, "an attempt that is stuck does not keep others from being made")
		stuck.Store(true)
		s.DropConnections("client")
		synctest.Wait()
		assert.LessOrEqual(t, closes(t, c), stuckCloses)
		release()
		synctest.Wait()
		assert.Zero(t, open.Load(), "connections that came too late stay open")
	})
}
