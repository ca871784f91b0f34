package guard

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

func TestRequestsThatWereHeldFollowThoseThatSetWatches(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"until watches are set": false, "those to set watches, too": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, conn := connected(t)
			before := conn.received.Len()

			read, watches, again := ask(1, opSync), ask(2, opSetWatches), ask(3, opSetWatches)
			c.HoldBack(all)
			send(t, c, read)
			require.Equal(t, before, conn.received.Len())
			send(t, c, watches, again)
			want := append(append(append([]byte{}, watches...), read...), again...)
			if all {
				require.Equal(t, before, conn.received.Len())
				c.SendHeld()
				want = append(append(append([]byte{}, watches...), again...), read...)
			}
			require.Equal(t, want, conn.received.Bytes()[before:])
			send(t, c, ask(4, opSync))
			require.Equal(t, append(want, ask(4, opSync)...), conn.received.Bytes()[before:], "nothing is held any more")
		})
	}
}

// The guard's own round trips wait, too, until requests may be sent. An answer before
// the watches are set again would change the zxid from which they are set.
func TestNoSyncIsSentBeforeRequestsMayBe(t *testing.T) {
	t.Parallel()
	c, _ := connected(t)
	c.guard.roundTripAt = time.Time{}
	c.guard.makeRoundTrip(time.Now())
	assert.False(t, c.guard.underWay.Load())
	assert.True(t, c.guard.roundTripAt.IsZero(), "it is still due")
}

// Pings are answered in order, and have no numbers: each answer is that to the oldest.
func TestAnswerToAPingProvesTheOldest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		request, reply := connectFrames(17)
		pong := answer(xidPing, 0, 0)
		c, _ := scripted(bytes.Join([][]byte{reply, pong, pong}, nil))
		read := func(frame []byte) {
			_, err := io.ReadFull(c, make([]byte, len(frame)))
			require.NoError(t, err)
		}
		send(t, c, request)
		read(reply)
		var sent []time.Time
		for range 2 {
			<-time.After(time.Second)
			sent = append(sent, time.Now())
			send(t, c, ask(xidPing, opPing))
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

// A session is notified of the end of a connection before the library gets another. A
// connection that comes after the end of the session is not used.
func TestDialingBetweenTwoConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, _ := scripted(nil)
		g := old.guard
		g.latest = old
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
	c, _ := scripted(reply)
	send(t, c, request)
	c.guard.cancel(nil)
	_, err := io.ReadFull(c, make([]byte, len(reply)))
	require.ErrorIs(t, err, errSealed)
	assert.Zero(t, c.guard.ID())
	assert.Zero(t, c.guard.Timeout())
	assert.Nil(t, c.guard.Live())
}
