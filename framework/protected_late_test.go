package framework_test

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// underWay holds back what a client sends while there is a jam, and delivers it after
// that even if the client has hung up meanwhile.
func underWay(conn net.Conn, j *jam) net.Conn {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		_, _ = io.Copy(far, conn)
	}()
	frames := make(chan []byte, 100)
	go func() {
		defer close(frames)
		for {
			buf := make([]byte, 32<<10)
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			frames <- buf[:n]
		}
	}()
	go func() {
		defer conn.Close()
		for frame := range frames {
			j.wait(nil)
			if _, err := conn.Write(frame); err != nil {
				return
			}
		}
	}()
	return near
}

// The server gets the create when the next session has begun already: the one in which
// it was sent is over here, but not there.
func TestProtectedPersistentCreateCarriedOutAfterItsSessionWasGivenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var j, now jam
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Reconnect = retry.Constant(10 * time.Millisecond)
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if err != nil || now.is() {
					return conn, err
				}
				return underWay(conn, &j), nil
			}
		})
		require.NoError(t, c.CreateParents(t.Context(), "/queue/n-"))
		old := c.Session()
		j.set(true)
		now.set(true) // later connections are not held up
		s.RefuseConnections("client", true)
		_, err := c.CreateProtected(t.Context(), "/queue/n-", nil, framework.PersistentSequential)
		require.ErrorIs(t, err, framework.ErrTrustExpired)
		s.RefuseConnections("client", false)
		time.Sleep(500 * time.Millisecond)
		require.Equal(t, connected, c.State())
		require.NotEqual(t, old.ID(), c.Session().ID())

		require.Empty(t, s.Children("/queue"))
		j.set(false)
		synctest.Wait()
		require.Len(t, s.Children("/queue"), 1, "it was carried out in the old session")
		time.Sleep(2 * timeout)
		assert.Empty(t, s.Children("/queue"))
	})
}
