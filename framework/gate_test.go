package framework

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A frailConn ends behind the connect reply.
type frailConn struct {
	net.Conn
	greeted atomic.Bool
}

func (c *frailConn) Read(p []byte) (int, error) {
	if c.greeted.Load() {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p) // all of the reply: there is nothing else to come
	c.greeted.Store(true)
	return n, err
}

// Connections that end as soon as they are made, several in a row.
func TestWatchesSurviveConnectionsThatEndAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		var frail atomic.Int32 // connections that are still to be bad
		dial := server.Dial("client")
		client, err := Connect(t.Context(), Config{
			Servers: []string{server.Addr()}, SessionTimeout: 9 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Reconnect: retry.Constant(10 * time.Millisecond),
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if frail.Add(-1) >= 0 {
					conn = &frailConn{Conn: conn}
				}
				return conn, err
			},
		})
		require.NoError(t, err)
		defer client.Close()
		session := client.Session()
		_, err = client.Create(t.Context(), "/node", nil, Persistent)
		require.NoError(t, err)
		_, _, _, err = client.GetWatch(t.Context(), "/node")
		require.NoError(t, err)

		for range 20 {
			frail.Store(4)
			server.DropConnections("client")
			time.Sleep(time.Second)
			require.NoError(t, session.Err())
			require.Negative(t, frail.Load(), "all of the bad connections were used")
			_, _, _, err = client.GetWatch(t.Context(), "/node")
			require.NoError(t, err)
		}

		// The session is as good as before.
		require.NoError(t, session.Err())
		_, _, w, err := client.GetWatch(t.Context(), "/node")
		require.NoError(t, err)
		_, err = client.Set(t.Context(), "/node", []byte("x"), AnyVersion)
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, w.Events(), 1)
		require.Equal(t, EventDataChanged, (<-w.Events()).Type)
	})
}

// The gate is open while the client has the session, a connection is attached that is
// not gone, and the session is not over; in whatever order that comes.
func TestGateIsOpenWhileRequestsMayBeSent(t *testing.T) {
	t.Parallel()
	session := scripted()
	session.gate.published = false
	up, down := session.gate.signals()
	open := func(want bool) {
		t.Helper()
		assert.Equal(t, want, session.gate.requests() != nil)
		assert.Equal(t, want, session.gate.isOpen())
		up, down = session.gate.signals()
		assert.Equal(t, want, up.Given())
		assert.Equal(t, !want, down.Given())
	}
	open(false)
	first := greet(t, session)
	assert.True(t, session.gate.first.Given())
	open(false)
	session.gate.publish()
	open(true)
	wasDown := down
	second := greet(t, session) // the guard ends the first before
	open(true)
	assert.True(t, wasDown.Given())
	session.gate.attached(first) // which is gone
	assert.Same(t, second, session.gate.conn)
	wasUp := up
	session.suspended()
	open(false)
	assert.True(t, wasUp.Given())
	session.gate.attached(second)
	open(true)
	session.over(ErrClosed)
	open(false)
}

// A request that was about to be sent when the connection broke is sent over the next.
func TestRequestThatComesTooLateForAConnectionTakesTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		client, err := Connect(t.Context(), Config{
			Servers: []string{server.Addr()}, SessionTimeout: 9 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Dial: server.Dial("client"),
		})
		require.NoError(t, err)
		defer client.Close()
		session := client.Session()
		attempts, finished := 0, []error(nil)
		_, outcome, err := send(t.Context(), session, "/node", request[struct{}]{start: func(*Session, string) (attempt[struct{}], error) {
			if attempts++; attempts == 1 {
				session.guard.Seal()
			}
			return attempt[struct{}]{code: guard.OpSync, record: pathRecord("/node"), finish: func(_ guard.Answer, err error) (none struct{}, _ error) {
				finished = append(finished, err)
				return none, err
			}}, nil
		}})
		require.NoError(t, err)
		assert.Equal(t, Done, outcome)
		assert.Equal(t, 2, attempts)
		assert.Equal(t, []error{guard.ErrConnectionClosed, nil}, finished)
		assert.Empty(t, session.slots)
	})
}
