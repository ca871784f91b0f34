package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// piped returns a connection that has a session and is written to, and the server's end
// of it, which has read the connect request. Both are in a bubble of synctest, and end
// with the test.
func piped(t *testing.T) (c *Conn, server net.Conn) {
	near, server := net.Pipe()
	g := newTestGuard()
	c = newConn(g, "a", near, time.Now().Add(time.Minute))
	g.conn, g.latest = c, c
	g.servers.start(c.writeAll)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoError(t, server.Close())
		began := time.Now()
		g.servers.AwaitCallbacks()
		assert.Equal(t, began, time.Now(), "nothing runs on")
		for range g.servers.callbacks.Range {
			t.Error("a goroutine that writes has not ended")
		}
	})
	go func() {
		_, reply := connectFrames(17)
		if _, err := jute.ReadFrame(server, 1<<10); assert.NoError(t, err) {
			_, _ = server.Write(reply)
		}
	}()
	greet(t, c)
	return c, server
}

// receive returns the bodies of so many frames that the server gets.
func receive(t *testing.T, server net.Conn, many int) (bodies [][]byte) {
	t.Helper()
	for range many {
		body, err := jute.ReadFrame(server, 8<<20)
		require.NoError(t, err)
		bodies = append(bodies, body)
	}
	return bodies
}

// The place among the requests is settled when Sent is called: from then on the server
// gets the request before all that are not sent yet.
func TestFramesAreWrittenInTheOrderInWhichTheyAreSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const senders, each = 8, 50
		c, server := piped(t)
		var r recorder
		var order []uint32
		for s := range senders {
			go func() {
				for i := range each {
					n := uint32(s*each + i)
					request, record := r.request(int(n)), binary.BigEndian.AppendUint32(nil, n)
					request.sent = func() { // under the lock of the order
						order = append(order, n)
						assert.True(t, bytes.HasSuffix(c.out, record), "nothing comes before it any more")
					}
					assert.True(t, c.Send(OpExists, record, request))
					if i%10 == 0 {
						_, err := c.Write(ask(xidPing, OpPing))
						assert.NoError(t, err)
					}
				}
			}()
		}
		var got []uint32
		var xids []int32
		for _, body := range receive(t, server, senders*(each+each/10)) {
			if be32(body) == xidPing {
				continue
			}
			require.EqualValues(t, OpExists, be32(body[4:]))
			got, xids = append(got, binary.BigEndian.Uint32(body[8:])), append(xids, be32(body))
		}
		synctest.Wait()
		require.Equal(t, order, got)
		require.Len(t, got, senders*each)
		require.IsIncreasing(t, xids)
		for i, f := range c.sent {
			require.Equal(t, xids[i], f.xid, "it is in flight in that order")
		}
	})
}

// Nobody waits for the network to send something. What has come together is written at
// once.
func TestAWriteThatBlocksBlocksNoSend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, server := piped(t)
		var r recorder
		r.ask(t, c, 1, OpSync)
		synctest.Wait() // it is being written
		began := time.Now()
		for range 1000 {
			require.True(t, c.Send(OpSync, syncRecord, deaf{}))
		}
		send(t, c, ask(xidPing, OpPing))
		require.Equal(t, began, time.Now())
		for i, body := range receive(t, server, 1001) {
			require.Equal(t, number(i+1), be32(body))
		}
		require.EqualValues(t, xidPing, be32(receive(t, server, 1)[0]))
		require.Empty(t, r.took()[1:])
	})
}

// A connection may end while it is being written to.
func TestAConnectionThatEndsDuringAWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := piped(t)
		var r recorder
		r.listen(c.guard)
		r.ask(t, c, 1, OpSync)
		synctest.Wait()
		require.NoError(t, c.Close())
		require.Equal(t, []string{"sent 1", "suspended", "answer 1"}, r.took())
		synctest.Wait()
		require.NoError(t, c.guard.Broken(), "it was closed")
		for range c.guard.servers.callbacks.Range {
			t.Error("a goroutine has not ended")
		}
	})
}

// The goroutine that writes ends itself when it cannot, and the connection: when what
// the server has answered before is read, or soon.
func TestAWriteThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, server := piped(t)
		require.NoError(t, server.Close())
		var r recorder
		r.listen(c.guard)
		require.True(t, c.Send(OpSync, syncRecord, r.request(1)))
		synctest.Wait()
		require.Equal(t, []string{"sent 1"}, r.took())
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err)
		require.Equal(t, []string{"suspended", "answer 1"}, r.took())
		require.Equal(t, Answer{Err: ErrConnectionClosed}, r.answer(1))
		require.False(t, c.Send(OpSync, syncRecord, r.request(2)))
		require.EqualError(t, c.guard.Broken(), "connection to a broke: io: read/write on closed pipe")
		require.Nil(t, c.guard.Live())
	})
}

// A write that takes only a part of what is to be sent is an error as well, by the
// rules of io.Writer.
type shortWrites struct{ script }

var errShort = errors.New("short")

func (shortWrites) Write(p []byte) (int, error) { return len(p) / 2, errShort }

func TestAWriteThatIsCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestGuard()
		c := newConn(g, "a", &shortWrites{script{bytes.NewReader(nil)}}, time.Now().Add(time.Minute))
		g.conn = c
		g.servers.start(c.writeAll)
		send(t, c, ask(0, 0))
		synctest.Wait()
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err)
		require.True(t, c.gone.Given())
		require.Equal(t, "connection to a broke: short", g.Broken().Error())
	})
}

// A server may have answered before it closed the connection, and may not close its
// side.
func TestAnswersAreReadWhenNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, server := piped(t)
		var r recorder
		r.listen(c.guard)
		require.True(t, c.Send(OpSync, syncRecord, r.request(1)))
		_, err := io.ReadFull(server, make([]byte, 4+HeaderBytes+len(syncRecord)))
		require.NoError(t, err)
		c.cannotWrite(errShort)
		go func() {
			time.Sleep(answersGrace / 2)
			_, _ = server.Write(answer(firstXid+1, 5, 0, text("/")...))
		}()
		began := time.Now()
		_, err = c.Read(make([]byte, 1))
		require.ErrorIs(t, err, errShort)
		require.Equal(t, answersGrace, time.Since(began))
		require.NoError(t, r.answer(1).Err)
		require.Equal(t, "connection to a broke: short", c.guard.Broken().Error())
	})
}

// A buffer that was used for much is not kept for little, and one for little is.
func TestBuffersOfWhatIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, server := piped(t)
		var all sync.WaitGroup
		all.Go(func() { _, _ = io.Copy(io.Discard, server) })
		most := func() (most int) {
			for range 3 { // two buffers take turns
				require.True(t, c.Send(OpSync, syncRecord, deaf{}))
				synctest.Wait()
				most = max(most, cap(c.out))
			}
			return most
		}
		for _, size := range []int{keptOut / 2, 4 << 20, 4 << 20} {
			require.True(t, c.Send(OpSetData, make([]byte, size), deaf{}))
			require.True(t, c.Send(OpSetData, make([]byte, size), deaf{}))
			synctest.Wait()
			require.LessOrEqual(t, most(), keptOut)
		}
		require.NoError(t, c.Close())
		all.Wait()
	})
}

// What is being written is not overwritten by what is sent next, also if the goroutine
// that writes was woken for nothing before.
func TestWhatIsBeingWrittenStays(t *testing.T) {
	t.Parallel()
	for woken := range 5 {
		synctest.Test(t, func(t *testing.T) {
			c, server := piped(t)
			next := 1
			for range 4 {
				for range woken {
					c.wake()
					synctest.Wait()
				}
				for range 3 {
					require.True(t, c.Send(OpSync, syncRecord, deaf{}))
					synctest.Wait() // the first is being written
				}
				for _, body := range receive(t, server, 3) {
					require.Equal(t, ask(number(next), OpSync, syncRecord...)[frameHeader:], body)
					next++
				}
				synctest.Wait()
			}
		})
	}
}

func TestBuffersAreUsedAgain(t *testing.T) {
	c := connected(t)
	near, far := net.Pipe()
	c.Conn = near
	written := make(chan struct{})
	go func() {
		c.writeAll()
		close(written)
	}()
	body := make([]byte, frameHeader+8+len(syncRecord))
	exchange := func() {
		c.Send(OpSync, syncRecord, deaf{})
		_, _ = io.ReadFull(far, body)
		c.mu.Lock()
		c.sent = c.sent[:0] // as if it were answered
		c.mu.Unlock()
	}
	assert.Zero(t, testing.AllocsPerRun(200, exchange))
	require.NoError(t, c.Close())
	<-written
}
