package framework

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// reconnect ends the connection of a session, and waits for the next one.
func reconnect(ctx context.Context, server *zktest.Server, s *Session) error {
	suspended := s.Suspended()
	server.DropConnections("client")
	<-suspended
	err := s.await(ctx)
	synctest.Wait()
	return err
}

// A read that comes too late for its connection is not sent, and leaves no watch and no
// slot.
func TestReadAtOnceThatComesTooLateForItsConnection(t *testing.T) {
	withRelease(t, func(t *testing.T, server *zktest.Server, s *Session, r *release) {
		n := &notified{notify: func(Event) { panic("notified") }}
		late := &requestAtOnce[found[[]byte]]{ctx: t.Context(), client: r.client, answered: func(found[[]byte], error) { panic("answered") }}
		late.request = request[found[[]byte]]{op: "get", path: r.path, reads: true, start: func(s *Session, path string) (attempt[found[[]byte]], error) {
			a := dataReading.startWatch(s, path, n)
			return a, reconnect(t.Context(), server, s)
		}}
		require.False(t, late.send())
		require.Empty(t, s.watch.entries)
		require.Empty(t, s.slots)
	})
}

// A read whose answer is handled when the next connection has got its watches has not
// set its own there. It is repeated.
func TestReadThatIsAnsweredBeforeABreakAndHandledAfterIt(t *testing.T) {
	withRelease(t, func(t *testing.T, server *zktest.Server, s *Session, r *release) {
		n := &notified{notify: func(Event) { panic("notified") }}
		late := dataReading.startWatch(s, r.path, n)
		require.NoError(t, reconnect(t.Context(), server, s))
		_, outcome, err := late.read(guard.Answer{Body: make([]byte, 4+68)})
		require.ErrorIs(t, err, guard.ErrConnectionClosed)
		require.Equal(t, Unknown, outcome)
		require.Empty(t, s.watch.entries)
	})
}

// A release that is unconfirmed is sent on the next connection, also if it came too
// late for the one that it was meant for. So it counts as sent: if it were sent anew it
// would find that somebody has deleted the node.
func TestReleaseAtOnceThatComesTooLateForItsConnection(t *testing.T) {
	withRelease(t, func(t *testing.T, server *zktest.Server, s *Session, r *release) {
		stop := s.deletions.listen("/queue", overTold(func(<-chan struct{}) {}))
		defer stop()
		answers := make(chan error, 2)
		late := &requestAtOnce[struct{}]{ctx: t.Context(), client: r.client, counts: true, answered: func(_ struct{}, err error) { answers <- err }}
		late.request = request[struct{}]{op: "delete", path: r.path, start: func(s *Session, path string) (attempt[struct{}], error) {
			a, err := r.start(s, path)
			assert.NoError(t, reconnect(t.Context(), server, s))
			_, stands := server.Node("/queue/a")
			assert.False(t, stands, "it was deleted on the next connection")
			return a, err
		}}
		require.True(t, late.send())
		require.ErrorIs(t, <-answers, ErrUnknownOutcome)
		require.Empty(t, s.slots)
		synctest.Wait()
		require.Empty(t, s.releases.unconfirmed)
		require.Empty(t, answers)
	})
}
