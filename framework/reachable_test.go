package framework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Whoever has no time to wait is told about the servers, not about the session that was.
func TestWhoCannotWaitForTheNextSessionIsToldWhy(t *testing.T) {
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

// A server that has refused the credentials accepts the connection again, and hangs up again,
// before it refuses them again.
func TestARefusalIsNotForgottenBeforeASessionIsReady(t *testing.T) {
	t.Parallel()
	c, _ := scripted(nil)
	book := c.guard.book
	refused := fmt.Errorf("config.Auth[0]: %w", ErrAuthFailed)
	book.failed("a", refused)
	c.mu.Lock()
	c.attached = true
	c.mu.Unlock()
	book.attached("a")
	c.broke(io.EOF)
	require.ErrorIs(t, book.notConnected(), ErrAuthFailed)
	book.ready("a")
	require.NotErrorIs(t, book.notConnected(), ErrAuthFailed)
	book.failed("a", refused)
	book.failed("a", errors.New("connection refused"))
	assert.NotErrorIs(t, book.notConnected(), ErrAuthFailed, "but for another reason")
}
