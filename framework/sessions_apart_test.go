package framework_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What waits for a connection when its session ends: pinned to that session it fails,
// else it is carried out once, in the next.
func TestCreateIssuedWhileSuspendedBeforeTheSessionExpires(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *zktest.Server, session *framework.Session){
		"expired by the server": func(s *zktest.Server, session *framework.Session) {
			s.ExpireSession(session.ID())
		},
		"given up at the trust deadline": func(_ *zktest.Server, session *framework.Session) { <-session.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				old := c.Session()
				create := func(c *framework.Client, path string) <-chan result[framework.Created] {
					return start(func() (framework.Created, error) {
						return c.Create(t.Context(), path, nil, framework.Ephemeral)
					})
				}
				suspend(s, "client")
				pinned, free := create(c.In(old), "/pinned"), create(c, "/free")
				synctest.Wait()
				end(s, old)
				reach(s, "client")

				r := <-pinned
				require.ErrorIs(t, r.err, framework.ErrSessionLost)
				assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
				_, there := s.Node("/pinned")
				assert.False(t, there)

				r = <-free
				require.NoError(t, r.err)
				assert.Equal(t, c.Session().ID(), r.value.Session)
				assert.NotEqual(t, old.ID(), r.value.Session)
				info, there := s.Node("/free")
				require.True(t, there)
				assert.Equal(t, r.value.Session, info.EphemeralOwner)
				time.Sleep(timeout)
				assert.Equal(t, 1, s.Count(zktest.OpCreate))
			})
		})
	}
}

// clogged is a connection whose writes hang while it is jammed, until their deadline or
// its end, like those on a socket whose buffer is full.
type clogged struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func clog(conn net.Conn, j *jam) net.Conn {
	near, far := net.Pipe()
	c := &clogged{Conn: near, closed: make(chan struct{})}
	go func() {
		defer far.Close()
		_, _ = io.Copy(far, conn)
	}()
	go func() {
		defer conn.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := far.Read(buf)
			if err != nil || !j.wait(c.closed) {
				return
			}
			if _, err := conn.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	return c
}

func (c *clogged) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A jam is on or off for many connections together.
type jam struct {
	mu  sync.Mutex
	on  bool
	off chan struct{} // closed when it is off
}

func (j *jam) set(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case on == j.on:
	case on:
		j.off = make(chan struct{})
	default:
		close(j.off)
	}
	j.on = on
}

func (j *jam) is() bool { j.mu.Lock(); defer j.mu.Unlock(); return j.on }

// wait waits until there is no jam; false means that done came first.
func (j *jam) wait(done <-chan struct{}) bool {
	j.mu.Lock()
	on, off := j.on, j.off
	j.mu.Unlock()
	if !on {
		return true
	}
	select {
	case <-off:
		return true
	case <-done:
		return false
	}
}

// clogging makes all connections of a client clog together.
func clogging(j *jam) setting {
	return func(cfg *framework.Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return clog(conn, j), nil
		}
	}
}

// The client library keeps requests that it could not send yet over reconnects and even
// into a new session. Here they fill its queue: nothing of it may reach a server after
// the session has ended.
func TestRequestsQueuedInOneSessionAreNotSentInTheNext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var j jam
		c := connect(t, s, clogging(&j))
		old := c.Session()
		j.set(true)
		const n = 60
		var calls []<-chan result[framework.Created]
		for i := range n {
			calls = append(calls, start(func() (framework.Created, error) {
				return c.In(old).Create(t.Context(), fmt.Sprintf("/node-%d", i), nil, framework.Ephemeral)
			}))
		}
		synctest.Wait()
		s.RefuseConnections("client", true)
		<-old.Done()
		j.set(false)
		reach(s, "client")
		for _, call := range calls {
			r := <-call
			require.Error(t, r.err)
			if !errors.Is(r.err, framework.ErrSessionLost) {
				require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
			}
		}
		time.Sleep(2 * timeout)
		assert.Equal(t, connected, c.State())
		assert.NotEqual(t, old.ID(), c.Session().ID())
		assert.Zero(t, s.Count(zktest.OpCreate))
	})
}

// The same within one session: they are sent after the reconnect, or fail.
func TestRequestsQueuedWhenTheConnectionBreaksGoOnInTheSameSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var j jam
		c := connect(t, s, clogging(&j))
		session := c.Session()
		j.set(true)
		const n = 60
		var calls []<-chan result[framework.Created]
		for i := range n {
			calls = append(calls, start(func() (framework.Created, error) {
				return c.Create(t.Context(), fmt.Sprintf("/node-%d", i), nil, framework.Ephemeral)
			}))
		}
		synctest.Wait()
		j.set(false)
		s.DropConnections("client")
		for _, call := range calls {
			r := <-call
			if r.err != nil {
				require.ErrorIs(t, r.err, framework.ErrUnknownOutcome)
				continue
			}
			info, ok := s.Node(r.value.Path)
			require.True(t, ok)
			assert.Equal(t, session.ID(), info.EphemeralOwner)
		}
		assert.NoError(t, session.Err())
	})
}

// A server that answers with another session than the one requested.
func TestReplacedSessionIsNotUsed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		// Restarted without its state, and made to forget the session to resume, the
		// server opens a new session for every connection.
		var forget jam
		c := connect(t, s, func(cfg *framework.Config) {
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if err == nil && forget.is() {
					conn = &forgetful{Conn: conn}
				}
				return conn, err
			}
		})
		old := c.Session()
		forget.set(true)
		s.DropConnections("client")
		time.Sleep(50 * time.Millisecond)
		forget.set(false)
		require.ErrorIs(t, old.Err(), framework.ErrSessionReplaced)
		require.ErrorIs(t, old.Err(), framework.ErrSessionLost)
		fresh, err := c.AwaitSession(t.Context())
		require.NoError(t, err)
		assert.NotEqual(t, old.ID(), fresh.ID())
	})
}

// forgetful removes the session id from the connect request.
type forgetful struct {
	net.Conn
	sent bool
}

func (c *forgetful) Write(p []byte) (int, error) {
	if !c.sent {
		c.sent = true
		p = append([]byte(nil), p...)
		clear(p[20:28])
	}
	return c.Conn.Write(p)
}

func TestPinnedViewKeepsItsSessionAndItsPaths(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.Namespace = "ns" })
		view := c.In(c.Session())
		assert.Same(t, c.Session(), view.Session())
		assert.Equal(t, "/ns/x", view.FullPath("/x"))
		assert.True(t, kit.Of(view).SameClient(c))
		other := connectAs(t, s, "other")
		assert.False(t, kit.Of(other).SameClient(c))
		old := c.Session()
		s.ExpireSession(old.ID())
		time.Sleep(2 * time.Second)
		assert.Same(t, old, view.Session())
		assert.NotSame(t, old, c.Session())
	})
}

func TestTasksOfASessionEndWithIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		old := c.Session()
		ended := make(chan error, 1)
		require.True(t, old.Go(func(ctx context.Context) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
		}))
		s.ExpireSession(old.ID())
		require.ErrorIs(t, <-ended, framework.ErrSessionExpired)
		time.Sleep(time.Second)
		assert.False(t, old.Go(func(context.Context) { t.Error("runs after the end of its session") }))

		running, finish := make(chan struct{}), make(chan struct{})
		require.True(t, c.Session().Go(func(context.Context) { close(running); <-finish }))
		<-running
		closing := startErr(c.Close)
		time.Sleep(time.Minute)
		select {
		case <-closing:
			t.Error("Close did not wait for a task")
		default:
		}
		close(finish)
		require.NoError(t, (<-closing).err)
	})
}
