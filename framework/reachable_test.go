package framework

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Reachable tells about the servers, not about the session that is over.
func TestReachableTellsWhyThereIsNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, err := Connect(t.Context(), Config{Servers: []string{server.Addr()}, Dial: server.Dial("a"), Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.Reachable())
		pinned := c.In(c.Session())
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		server.RefuseConnections("a", true)
		server.DropConnections("a")
		synctest.Wait()
		for range 2 {
			_, err := c.AwaitSession(ended)
			for _, err := range []error{err, c.Reachable()} {
				require.ErrorIs(t, err, ErrNotConnected)
				require.ErrorContains(t, err, server.Addr())
				require.NotErrorIs(t, err, ErrSessionLost)
			}
			time.Sleep(DefaultSessionTimeout)
		}
		require.ErrorIs(t, pinned.Reachable(), ErrSessionLost, "and not for a view that lives in it")
		c.Close()
		require.ErrorIs(t, c.Reachable(), ErrClosed)
	})
}
