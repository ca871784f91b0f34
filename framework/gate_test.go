package framework

import (
	"context"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestRequestsThatWereHeldFollowThoseThatSetWatches(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"until watches are set": false, "those to set watches, too": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, reply := hello(17)
			c, conn := scripted(reply)
			tell(t, c, request)
			_, err := io.ReadFull(c, make([]byte, len(reply)))
			require.NoError(t, err)
			greeted := conn.heard.Len()

			read, watches, again := ask(1, opSync), ask(2, opSetWatches), ask(3, opSetWatches)
			c.holdBack(all)
			tell(t, c, read)
			require.Equal(t, greeted, conn.heard.Len())
			tell(t, c, watches, again)
			want := append(append(append([]byte{}, watches...), read...), again...)
			if all {
				require.Equal(t, greeted, conn.heard.Len())
				c.sendHeld()
				want = append(append(append([]byte{}, watches...), again...), read...)
			}
			require.Equal(t, want, conn.heard.Bytes()[greeted:])
			tell(t, c, ask(4, opSync))
			require.Equal(t, append(want, ask(4, opSync)...), conn.heard.Bytes()[greeted:], "nothing is held any more")
		})
	}
}

// A frailConn ends behind the connect reply; one that is not frail notes what is written to it.
type frailConn struct {
	net.Conn
	frail bool

	mu      sync.Mutex
	greeted bool
	sent    []sentFrame
}

type sentFrame struct {
	op int32
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
	c.sent = append(c.sent, sentFrame{operation(p), time.Now()})
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// The library leaves its requests to set watches in its queue when connections end as
// soon as they are made. The next connection begins with those, while the library still
// reads the zxid of the last answer for one more: no answer may come that early.
func TestStaleRequestsToSetWatchesWaitForTheLibrary(t *testing.T) {
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
			Reconnect: retry.Forever(10 * time.Millisecond),
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

		// stale breaks the connection, and then some, and tells whether the first that lasted
		// began with what the library had left.
		stale := func() bool {
			mu.Lock()
			frail = 4
			mu.Unlock()
			server.DropConnections("client")
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			require.Negative(t, frail, "all of the bad connections were used")
			last.mu.Lock()
			defer last.mu.Unlock()
			sets := slices.DeleteFunc(slices.Clone(last.sent), func(f sentFrame) bool { return f.op != opSetWatches })
			for _, f := range sets {
				if len(sets) > 1 {
					assert.GreaterOrEqual(t, f.at.Sub(dialed), watchGrace)
				}
			}
			return len(sets) > 1
		}
		for rounds := 1; !stale(); rounds++ { // a matter of luck
			require.Less(t, rounds, 100)
			require.NoError(t, session.Err())
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
