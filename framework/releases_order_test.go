package framework

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// withRelease runs a test with the release of an ephemeral node /queue/a, of which
// nothing was sent yet.
func withRelease(t *testing.T, test func(t *testing.T, server *zktest.Server, s *Session, r *release)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		client, err := Connect(t.Context(), Config{
			Servers: []string{server.Addr()}, SessionTimeout: 9 * time.Second, Logger: slog.New(slog.DiscardHandler),
			Dial: server.Dial("client"),
		})
		require.NoError(t, err)
		defer client.Close()
		require.NoError(t, client.CreateParents(t.Context(), "/queue/a"))
		_, err = client.Create(t.Context(), "/queue/a", nil, Ephemeral)
		require.NoError(t, err)
		s := client.Session()
		test(t, server, s, &release{client: client.In(s), session: s, path: "/queue/a"})
	})
}

// An overTold is told that slots are over.
type overTold func(broken <-chan struct{})

// Deleted, Waits and Over are for bridge.DeletionListener.
func (o overTold) Deleted(string)                        {}
func (o overTold) Waits(string) bool                     { return true }
func (o overTold) Over(_ string, broken <-chan struct{}) { o(broken) }

// The next connection may be attached at any moment after the delete has its place. So
// the release is unconfirmed before, and nobody is told before.
func TestReleaseIsUnconfirmedBeforeItIsSent(t *testing.T) {
	withRelease(t, func(t *testing.T, _ *zktest.Server, s *Session, r *release) {
		told := false
		stop := s.deletions.listen("/queue", overTold(func(<-chan struct{}) { told = true }))
		defer stop()
		sent := false
		_, _, err := send(t.Context(), s, r.path, request[struct{}]{start: func(s *Session, path string) (attempt[struct{}], error) {
			a, err := r.start(s, path)
			a.sent = func() {
				sent = true
				assert.True(t, slices.Contains(s.releases.unconfirmed, r))
				assert.False(t, told)
			}
			return a, err
		}})
		require.NoError(t, err)
		require.True(t, sent)
		require.True(t, told)
		require.Empty(t, s.releases.unconfirmed)
	})
}

// An attempt that came too late for a connection tells nobody: the next one does, with
// the channel of its own connection. Here the next connection has deleted the node by
// then.
func TestReleaseThatComesTooLateForAConnection(t *testing.T) {
	withRelease(t, func(t *testing.T, server *zktest.Server, s *Session, r *release) {
		var told []<-chan struct{}
		stop := s.deletions.listen("/queue", overTold(func(broken <-chan struct{}) { told = append(told, broken) }))
		defer stop()
		attempts := 0
		_, outcome, err := send(t.Context(), s, r.path, request[struct{}]{start: func(s *Session, path string) (attempt[struct{}], error) {
			a, err := r.start(s, path)
			if attempts++; attempts == 1 {
				s.guard.Seal()
			}
			return a, err
		}})
		require.NoError(t, err, "that there is no node is no news")
		require.Equal(t, Done, outcome)
		require.Equal(t, 2, attempts)
		require.Equal(t, 2, server.Count(zktest.OpDelete))
		for _, broken := range told {
			require.Equal(t, s.Suspended(), broken)
		}
		require.Empty(t, s.releases.unconfirmed)
	})
}

// What is told is the channel of the connection on which the delete has its place, also
// if there is another connection by now.
func TestReleaseTellsOfItsOwnConnection(t *testing.T) {
	withRelease(t, func(t *testing.T, server *zktest.Server, s *Session, r *release) {
		var told []<-chan struct{}
		stop := s.deletions.listen("/queue", overTold(func(broken <-chan struct{}) { told = append(told, broken) }))
		defer stop()
		suspended := s.Suspended()
		a, err := r.start(s, r.path)
		require.NoError(t, err)
		_, down := s.gate.signals()
		server.DropConnections("client")
		<-suspended
		server.On(zktest.OpDelete, "").Delay(time.Second)
		require.NoError(t, s.await(t.Context()))
		a.follow(down)
		require.Len(t, told, 1)
		require.Equal(t, suspended, told[0])
		require.NotEqual(t, suspended, s.Suspended())
	})
}
