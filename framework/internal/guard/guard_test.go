package guard

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The guard's own round trips wait, too, until requests may be sent. An answer before
// the watches are set again would change the zxid from which they are set.
func TestNoSyncIsSentBeforeRequestsMayBe(t *testing.T) {
	t.Parallel()
	c := connected(t)
	c.guard.roundTripAt = time.Time{}
	c.guard.makeRoundTrip(time.Now())
	assert.False(t, c.guard.underWay.Load())
	assert.True(t, c.guard.roundTripAt.IsZero(), "it is still due")
}

// One round trip is under way at a time. It ends with the answer, or with the
// connection, and the next connection begins with another.
func TestOneRoundTripIsUnderWay(t *testing.T) {
	t.Parallel()
	c := connected(t, answer(number(1), 5, 0, text("/")...))
	g := c.guard
	g.events.IsOpen = func() bool { return true }
	period, now := g.Timeout()/12, time.Now()
	trip := func() int {
		now = now.Add(period)
		g.makeRoundTrip(now)
		return len(frames(t, unwritten(g.Live())))
	}
	require.Equal(t, []int{1, 0}, []int{trip(), trip()})
	readOne(t, c)
	require.Equal(t, []int{1, 0}, []int{trip(), trip()})
	require.NoError(t, c.Close())
	c = again(t, g)
	unwritten(c)
	g.makeRoundTrip(now)
	require.Len(t, frames(t, unwritten(c)), 1, "at once")
	require.NoError(t, c.Close())
	c = again(t, g)
	unwritten(c)
	require.True(t, c.post(closeRequest()))
	g.makeRoundTrip(now.Add(period)) // it is not sent
	require.False(t, g.underWay.Load())
}

// Pings are answered in order, and have no numbers: each answer is that to the oldest.
func TestAnswerToAPingProvesTheOldest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pong := answer(xidPing, 0, 0)
		c := connected(t, pong, pong)
		var sent []time.Time
		for range 2 {
			<-time.After(time.Second)
			sent = append(sent, time.Now())
			send(t, c, ask(xidPing, OpPing))
		}
		for _, at := range sent {
			<-time.After(time.Second)
			readOne(t, c)
			answered := c.guard.trust.answered
			assert.Equal(t, at, answered[len(answered)-1].sent)
		}
		assert.Empty(t, c.pings)
	})
}

// A session is notified of the end of a connection before the library gets another. A
// connection that comes after the end of the session is not used.
func TestDialingBetweenTwoConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := scripted(nil)
		g := old.guard
		near, far := net.Pipe()
		defer far.Close()
		during := func() {}
		g.servers.cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
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
				conn, err := g.Dial("", "", 0)
				done <- dialed{conn, err}
			}()
			time.Sleep(time.Minute)
			return done
		}

		old.gone.Give() // by another goroutine, which has done no more yet
		waiting := dial()
		require.Empty(t, waiting)
		g.detached(old)
		old.notified.Give()
		first := (<-waiting).Conn.(*Conn)

		var second *Conn
		require.NotPanics(t, func() { second = (<-dial()).Conn.(*Conn) })
		assert.True(t, first.gone.Given(), "the library had not closed it")
		assert.Same(t, second, g.conn)
		first.guard.detached(first)
		assert.Same(t, second, g.conn, "the end of an older connection does not end this one")
		require.NoError(t, second.Close())

		near, far = net.Pipe()
		during = func() { g.cancel(nil) }
		waiting = dial()
		require.Empty(t, waiting, "it is blocked")
		_, err := far.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "the connection is not left open")
		g.release.Give()
		require.ErrorIs(t, (<-waiting).err, errSealed)
	})
}

// The reply to a connect request may come after the session's end.
func TestHandshakeOfASessionThatIsOverDoesNotCount(t *testing.T) {
	t.Parallel()
	request, reply := connectFrames(17)
	c := scripted(reply)
	send(t, c, request)
	c.guard.cancel(nil)
	require.ErrorIs(t, readAll(t, c), errSealed)
	assert.Zero(t, c.guard.ID())
	assert.Zero(t, c.guard.Timeout())
	assert.Nil(t, c.guard.Live())
}
