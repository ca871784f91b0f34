package framework

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A frailConn ends behind the connect reply; one that is not frail notes what is
// written to it.
type frailConn struct {
	net.Conn
	frail bool

	mu      sync.Mutex
	greeted bool
	sent    []sentFrame
}

type sentFrame struct {
	op uint32
	at time.Time
}

func (c *frailConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	over := c.frail && c.greeted
	c.mu.Unlock()
	if over {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p) // all of the reply: there is nothing else to come
	c.mu.Lock()
	c.greeted = true
	c.mu.Unlock()
	return n, err
}

func (c *frailConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.sent = append(c.sent, sentFrame{binary.BigEndian.Uint32(p[8:]), time.Now()})
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// The library may leave a request to set watches in its queue when a connection ends as
// soon as it is made. The next one begins with that, while the library still reads the
// zxid of the last answer for one more: no answer may come that early.
func TestRequestsToSetWatchesThatMayBeStaleAreHeld(t *testing.T) {
	t.Parallel()
	session := scripted()
	attach := func(watchesSet int) (held bool) {
		c := greet(t, session)
		held = reflect.ValueOf(c).Elem().FieldByName("holdingAll").Bool()
		for range watchesSet {
			setWatches(t, c)
		}
		return held
	}
	require.False(t, attach(0), "nothing can be left over")
	require.True(t, attach(0), "from the first")
	require.True(t, attach(1), "from both")
	require.True(t, attach(2), "from the second or third")
	require.True(t, attach(2))
	require.False(t, attach(1), "all were seen")
	require.False(t, attach(0))
	require.True(t, attach(0))
	session.gate.handle(gateAnswered)
	require.False(t, attach(0), "the library had all the time it needs")

	// The gate opens as soon as those that were held are sent. Of several the library
	// sends the second when the first is answered, be it on the next connection.
	several := func() { session.watch.join(watchKey{dataWatch, "/" + strings.Repeat("x", onePacket)}, newWatch()) }
	several()
	require.True(t, attach(2))
	openGate(session, session.guard.Live(), false)
	require.True(t, session.gate.isOpen())
	several()
	session.suspended()
	require.True(t, attach(1), "the second of several")
}

// Connections that end as soon as they are made, several in a row.
func TestWatchesSurviveConnectionsThatEndAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		var mu sync.Mutex
		frail := 0 // connections that are still to be bad
		var last *frailConn
		var dialed time.Time
		dial := server.Dial("client")
		client, err := Connect(t.Context(), Config{
			Servers: []string{server.Addr()}, SessionTimeout: 9 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Reconnect: retry.Constant(10 * time.Millisecond),
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				mu.Lock()
				defer mu.Unlock()
				last, dialed = &frailConn{Conn: conn, frail: frail > 0}, time.Now()
				frail--
				return last, err
			},
		})
		require.NoError(t, err)
		defer client.Close()
		session := client.Session()
		_, err = client.Create(t.Context(), "/node", nil, Persistent)
		require.NoError(t, err)
		_, _, _, err = client.GetWatch(t.Context(), "/node")
		require.NoError(t, err)

		for range 20 { // whether something is left over is a matter of luck
			mu.Lock()
			frail = 4
			mu.Unlock()
			server.DropConnections("client")
			time.Sleep(time.Second)
			require.NoError(t, session.Err())
			mu.Lock()
			require.Negative(t, frail, "all of the bad connections were used")
			last.mu.Lock()
			sets := slices.DeleteFunc(slices.Clone(last.sent), func(f sentFrame) bool { return f.op != opSetWatches })
			last.mu.Unlock()
			if len(sets) > 1 {
				assert.GreaterOrEqual(t, sets[0].at.Sub(dialed), watchGrace)
			}
			mu.Unlock()
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

// attachedAgain is a session that has attached with a watch to be set again, the watch,
// and the connection.
func attachedAgain(t *testing.T) (*Session, *Watch, *guard.Conn) {
	t.Helper()
	session := scripted()
	w := &Watch{events: make(chan Event, 1)}
	own, _ := session.watch.join(watchKey{dataWatch, "/a"}, w)
	own.entry.arm()
	return session, w, greet(t, session)
}

// openGate lets requests through on a connection when the library has had its time.
func openGate(session *Session, c *guard.Conn, restored bool) {
	session.gate.handle(gateDue)
	session.release(c, restored)
}

// The library drops its request to set watches when the connection breaks before it was
// sent. Then no event comes: all who wait have to read again.
func TestWatchesThatTheLibraryDidNotSetAgainAskForARecheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		session, w, _ := attachedAgain(t)
		<-time.After(session.checkGate(time.Now()))
		session.checkGate(time.Now())
		session.tasks.wait()
		require.True(t, session.gate.isOpen())
		require.Equal(t, Event{Type: EventRecheck}, <-w.Events())

		session, w, c := attachedAgain(t)
		setWatches(t, c)
		session.watchesRestored(true)
		session.gate.due = time.Now() // more packets might have come
		session.checkGate(time.Now())
		session.tasks.wait()
		require.True(t, session.gate.isOpen())
		require.Empty(t, w.Events(), "it was set again")
	})
}

// While the gate opens, which takes a write, another connection may have taken the
// place of the one that it opens for. Its watches are not set yet.
func TestGateIsNotOpenedForAnOlderConnection(t *testing.T) {
	t.Parallel()
	session, _, old := attachedAgain(t)
	c := greet(t, session)
	openGate(session, old, true)
	require.False(t, session.gate.isOpen())
	openGate(session, c, true)
	require.True(t, session.gate.isOpen())
}
