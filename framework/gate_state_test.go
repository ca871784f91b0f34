package framework

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attachNext attaches the session of a connection over another one.
func attachNext(t *testing.T, session *Session) *guardConn {
	t.Helper()
	request, reply := hello(17)
	c := newGuardConn(session.guard, "b", &script{Reader: bytes.NewReader(reply)}, time.Now().Add(time.Minute))
	session.guard.conn = c
	tell(t, c, request)
	_, err := io.ReadFull(c, make([]byte, len(reply)))
	require.NoError(t, err)
	session.gate.attached()
	return c
}

// That the watches were set again on one connection says nothing of the next.
func TestWatchesHaveToBeSetAgainOnEachConnection(t *testing.T) {
	t.Parallel()
	for _, restored := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			session, w, c := attachedAgain(t)
			session.watchesRestored(true)
			require.True(t, session.gate.isOpen())
			require.NoError(t, c.Close())
			require.False(t, session.gate.isOpen())

			c = attachNext(t, session)
			if restored {
				session.watchesRestored(true)
				openGate(session, c, true)
				assert.Empty(t, w.Events(), "who waits is not to look in vain")
				return
			}
			<-time.After(session.checkGate(time.Now()))
			session.checkGate(time.Now())
			session.tasks.wait()
			assert.True(t, session.gate.isOpen())
			assert.Len(t, w.Events(), 1, "or nobody hears of a change")
		})
	}
}

// Requests are let through only while there is a session, and a connection to send them by.
func TestGateStaysClosedWithoutASessionOrAConnection(t *testing.T) {
	t.Parallel()
	session, _, c := attachedAgain(t)
	require.NoError(t, c.Close())
	session.gate.tell(gatePresented)
	session.watchesRestored(true)
	openGate(session, c, true)
	assert.False(t, session.gate.isOpen())

	c = attachNext(t, session)
	openGate(session, c, true)
	require.True(t, session.gate.isOpen())
	session.end(ErrSessionExpired)
	require.False(t, session.gate.isOpen())
	session.guard.conn = c // whatever is left of it
	session.gate.tell(gatePresented)
	openGate(session, c, true)
	assert.False(t, session.gate.isOpen())
}

// The client's own round trips wait for the gate, too: what is answered before the watches
// are set again changes the zxid from which they are set.
func TestNoSyncIsSentWhileTheGateIsClosed(t *testing.T) {
	t.Parallel()
	session, _, _ := attachedAgain(t)
	var trips tripMaker
	trips.make(session, time.Now())
	assert.False(t, trips.underWay.Load())
	assert.True(t, trips.last.IsZero(), "it is still due")
}

// Pings are answered in their order, and nothing tells them apart: each answer is that to
// the oldest.
func TestAnswerToAPingProvesTheOldest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		request, reply := hello(17)
		pong := answer(xidPing, 0, 0)
		c, _ := scripted(bytes.Join([][]byte{reply, pong, pong}, nil))
		read := func(frame []byte) {
			_, err := io.ReadFull(c, make([]byte, len(frame)))
			require.NoError(t, err)
		}
		tell(t, c, request)
		read(reply)
		var sent []time.Time
		for range 2 {
			<-time.After(time.Second)
			sent = append(sent, time.Now())
			tell(t, c, ask(xidPing, opPing))
		}
		for _, at := range sent {
			<-time.After(time.Second)
			read(pong)
			answered := c.guard.trust.answered
			assert.Equal(t, at, answered[len(answered)-1].sent)
		}
		assert.Empty(t, c.pings)
	})
}

// A session hears of the end of a connection before the library gets another, and a
// connection that comes when the session is over is not used.
func TestDialingBetweenTwoConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, _ := scripted(nil)
		g := old.guard
		g.latest = old
		near, far := net.Pipe()
		defer far.Close()
		during := func() {}
		g.cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
			during()
			return near, nil
		}
		type dialed struct {
			net.Conn
			err error
		}
		dial := func() <-chan dialed {
			done := make(chan dialed, 1)
			go func() {
				conn, err := g.dial("", "", 0)
				done <- dialed{conn, err}
			}()
			time.Sleep(time.Minute)
			return done
		}

		old.isClosed.Store(true) // by another goroutine, which has not come far
		waiting := dial()
		require.Empty(t, waiting)
		g.detached(old)
		close(old.told)
		first := (<-waiting).Conn.(*guardConn)

		var second *guardConn
		require.NotPanics(t, func() { second = (<-dial()).Conn.(*guardConn) })
		assert.True(t, first.isClosed.Load(), "the library had not closed it")
		assert.Same(t, second, g.conn)
		first.guard.detached(first)
		assert.Same(t, second, g.conn, "the end of an older one is not that of this")

		near, far = net.Pipe()
		during = g.retire
		waiting = dial()
		require.Empty(t, waiting, "it is parked")
		_, err := far.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "the connection is not left open")
		g.letGo()
		require.ErrorIs(t, (<-waiting).err, errSealed)
	})
}

// The reply to a connect request may come when the session is over already.
func TestHandshakeOfASessionThatIsOverDoesNotCount(t *testing.T) {
	t.Parallel()
	request, reply := hello(17)
	c, _ := scripted(reply)
	session := c.guard.events.(*Session)
	tell(t, c, request)
	c.guard.retire()
	_, err := io.ReadFull(c, make([]byte, len(reply)))
	require.ErrorIs(t, err, errSealed)
	assert.Zero(t, session.ID())
	assert.Zero(t, session.Timeout())
	assert.Nil(t, c.guard.live())
}
