package framework

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// inSessions runs a test in virtual time with a client whose main session has room for
// one contender at /x.
func inSessions(t *testing.T, test func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		c, err := Connect(t.Context(), Config{
			Servers: []string{s.Addr()}, Dial: s.Dial("client"), Logger: slog.New(slog.DiscardHandler), MaxEphemeralBytes: 100,
		})
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		test(t, s, recipeView{c}, func(full ...*Session) *Session {
			found, err := recipeView{c}.AwaitRoom(t.Context(), "/x", []string{""}, 1, full)
			require.NoError(t, err)
			return found
		})
	})
}

// A contender may have chosen a session and not have made its node.
func TestSessionThatWasChosenIsKept(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, _ *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		s := room(v.Session())
		require.NotSame(t, v.Session(), s)
		assert.False(t, v.core.drop(s, false))
		assert.True(t, v.core.drop(s, false), "it was not chosen since")
		next := room(v.Session())
		assert.NotSame(t, s, next)
		time.Sleep(unusedLimit + time.Second)
		assert.NoError(t, next.Err())
		time.Sleep(unusedLimit)
		assert.ErrorIs(t, next.Err(), errUnused)
	})
}

// A session was full for a contender, and no other can be opened; meanwhile it has room
// again.
func TestRoomAgainWhereThereWasNone(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		s.RefuseConnections("client", true)
		begun := time.Now()
		require.Same(t, v.Session(), room(v.Session()))
		require.Equal(t, DefaultSessionTimeout, time.Since(begun))
		_, err := v.Create(t.Context(), "/a-node-with-a-long-name", nil, Ephemeral)
		require.NoError(t, err)
		_, err = v.AwaitRoom(t.Context(), "/x", []string{""}, 1, nil)
		require.ErrorIs(t, err, ErrTooManyEphemerals)
		require.ErrorIs(t, err, ErrNotConnected)
	})
}

// A further session has just ended, and what looks after it has not noticed.
func TestSessionThatIsOverDoesNotCount(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, _ *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		main := v.Session()
		s := room(main)
		v.core.mu.Lock()
		defer v.core.mu.Unlock()
		require.Equal(t, 2, v.core.living())
		s.over(ErrSessionExpired)
		require.Equal(t, 1, v.core.living())
		require.Same(t, main, v.core.among(choice{parents: func() []string { return []string{"/x"} }}))
	})
}

// While a session is being opened, no other is: all wait for that one.
func TestOneSessionIsOpenedAtATime(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, _ func(full ...*Session) *Session) {
		s.RefuseConnections("client", true)
		of := choice{parents: func() []string { return nil }, except: []*Session{v.Session()}}
		_, first := v.core.choose(of, true)
		require.NotNil(t, first)
		_, second := v.core.choose(of, true)
		require.Same(t, first, second)
		none, other := v.core.choose(of, false)
		require.Nil(t, none)
		require.Nil(t, other)
		<-first.done
		require.ErrorIs(t, first.err, ErrTooManyEphemerals)
	})
}

// A session that is attached is preferred, even if it is not the oldest.
func TestAttachedSessionIsPreferred(t *testing.T) {
	t.Parallel()
	inSessions(t, func(t *testing.T, s *zktest.Server, v recipeView, room func(full ...*Session) *Session) {
		main := v.Session()
		further := room(main)
		require.Same(t, main, room())
		main.gate.change(func() { main.gate.conn = nil })
		require.Same(t, further, room())
		require.Same(t, main, v.core.among(choice{parents: func() []string { return nil }, except: []*Session{further}}))
	})
}

// What can be in no other session finds room where contenders do not.
func TestSessionsAreNotFilledToTheBrim(t *testing.T) {
	t.Parallel()
	q := newQuota(1600)
	assert.True(t, q.fits(2000, true), "there is nothing in it")
	q.found("/" + strings.Repeat("x", 1395))
	require.Equal(t, 1400, q.used)
	assert.True(t, q.fits(100, true))
	assert.False(t, q.fits(101, true))
	assert.NoError(t, q.reserve("/"+strings.Repeat("y", 180)))
}
