package framework_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const replyLimit = 64 << 10

func smallReplies(cfg *framework.Config) { cfg.MaxReplyBytes = replyLimit }

// crowded makes a node whose listing has about 200 KB, and returns a function that
// removes its children.
func crowded(t *testing.T, s *zktest.Server, path string) (c *framework.Client, clear func()) {
	t.Helper()
	c = connectAs(t, s, "other")
	require.NoError(t, c.CreateParents(t.Context(), path+"/x"))
	var names []string
	for i := range 200 {
		made, err := c.Create(t.Context(), fmt.Sprintf("%s/%s%d", path, strings.Repeat("x", 1000), i), nil, framework.Persistent)
		require.NoError(t, err)
		names = append(names, made.Path)
	}
	return c, func() {
		for _, name := range names {
			require.NoError(t, c.Delete(t.Context(), name, framework.AnyVersion))
		}
	}
}

// A read whose answer is too large fails, once, and takes nothing else with it.
func TestLargeAnswerFailsTheRead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		_, clear := crowded(t, s, "/crowd")
		var r record
		c := connect(t, s, smallReplies, recording(&r))
		s.ResetCounts()
		_, _, err := c.Children(t.Context(), "/crowd")
		require.ErrorIs(t, err, framework.ErrReplyTooLarge)
		require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(err), "a read has no effect")
		// 200 names of 1001 to 1003 bytes with their lengths, their number, a Stat and
		// a header
		size := 200*(4+1000) + 10 + 90*2 + 100*3 + 4 + 68 + 16
		assert.ErrorContains(t, err, fmt.Sprintf("children /crowd: answer too large: %d bytes, the limit is 65536", size))
		assert.Equal(t, 1, s.CountOf("client", zktest.OpGetChildren2), "not repeated")
		time.Sleep(timeout)
		assert.Zero(t, s.CountOf("client", zktest.OpConnect))
		assert.Equal(t, []framework.State{framework.Connecting, connected}, r.states())
		clear()
		names, _, err := c.Children(t.Context(), "/crowd")
		require.NoError(t, err)
		assert.Empty(t, names)
	})
}

// The caller hears at once that the answer is too large. While the rest of it comes,
// over a slow line, the server is not silent.
func TestLargeAnswerOverASlowConnection(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		var slow atomic.Bool
		c := connect(t, s, smallReplies, recording(&seen), func(cfg *framework.Config) {
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				return trickle{conn, slow.Load}, err
			}
		})
		_, err := c.Create(t.Context(), "/big", make([]byte, 430<<10), framework.Persistent)
		require.NoError(t, err)
		synctest.Wait()
		slow.Store(true)
		began := time.Now()
		_, _, err = c.Get(t.Context(), "/big")
		require.ErrorIs(t, err, framework.ErrReplyTooLarge)
		require.Less(t, time.Since(began), 200*time.Millisecond)
		_, _, err = c.Exists(t.Context(), "/")
		require.NoError(t, err)
		require.Greater(t, time.Since(began), 5*time.Second, "behind the rest")
		assert.Equal(t, []framework.State{framework.Connecting, connected}, seen.states())
	})
}

// The server has set the watch of a read whose answer was refused. It does not keep the
// next one from being set, gives no event twice, and leaves no waiter.
func TestWatchOfARefusedRead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		other, clear := crowded(t, s, "/crowd")
		c := connect(t, s, smallReplies)
		time.Sleep(time.Second)
		for range 2 {
			_, _, w, err := c.ChildrenWatch(t.Context(), "/crowd")
			require.ErrorIs(t, err, framework.ErrReplyTooLarge)
			require.Nil(t, w)
		}
		require.Equal(t, 1, s.Watches(), "which no read waits for")
		clear() // fires it, without a waiter
		synctest.Wait()
		require.Zero(t, s.Watches())
		names, _, w, err := c.ChildrenWatch(t.Context(), "/crowd")
		require.NoError(t, err)
		require.Empty(t, names)
		synctest.Wait()
		require.Empty(t, w.Events(), "nothing has changed since")
		_, err = other.Create(t.Context(), "/crowd/a", nil, framework.Persistent)
		require.NoError(t, err)
		require.Equal(t, framework.EventChildrenChanged, (<-w.Events()).Type)

		// One that is there when the next is set is that one.
		_, err = other.Create(t.Context(), "/data", make([]byte, 2*replyLimit), framework.Persistent)
		require.NoError(t, err)
		_, _, _, err = c.GetWatch(t.Context(), "/data")
		require.ErrorIs(t, err, framework.ErrReplyTooLarge)
		_, _, w, err = c.ExistsWatch(t.Context(), "/data")
		require.NoError(t, err)
		require.Equal(t, 1, s.Watches())
		s.DropConnections("client") // and it is not set again for two
		time.Sleep(time.Second)
		require.Equal(t, 1, s.Watches())
		_, err = other.Set(t.Context(), "/data", nil, framework.AnyVersion)
		require.NoError(t, err)
		require.Equal(t, framework.EventDataChanged, (<-w.Events()).Type)
		_, _, w, err = c.GetWatch(t.Context(), "/data")
		require.NoError(t, err)
		synctest.Wait()
		require.Empty(t, w.Events())
		require.NoError(t, other.Delete(t.Context(), "/data", framework.AnyVersion))
		require.Equal(t, framework.EventDeleted, (<-w.Events()).Type)
	})
}

// A write whose answer was refused was carried out, once, and its outcome is unknown.
func TestLargeAnswerToAWrite(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.MaxReplyBytes = 80 }) // less than a Stat takes
		long := "/" + strings.Repeat("x", 100)
		for name, write := range map[string]func() error{
			"create": func() error {
				_, err := c.Create(t.Context(), long, nil, framework.Persistent)
				return err
			},
			"set": func() error { _, err := c.Set(t.Context(), "/", []byte("new"), framework.AnyVersion); return err },
			"multi": func() error {
				_, err := c.Multi(t.Context(), framework.CreateOp(long+"-2", nil, framework.Persistent))
				return err
			},
		} {
			err := write()
			require.ErrorIs(t, err, framework.ErrReplyTooLarge, name)
			require.ErrorIs(t, err, framework.ErrUnknownOutcome, name)
			require.ErrorContains(t, err, "outcome unknown: answer too large: ", name)
		}
		assert.ElementsMatch(t, []string{long[1:], long[1:] + "-2", "zookeeper"}, s.Children("/"))
		info, _ := s.Node("/")
		assert.EqualValues(t, 1, info.Version, "once")
		// What says no says so whatever its size.
		_, err := c.Create(t.Context(), long, nil, framework.Persistent)
		require.ErrorIs(t, err, framework.ErrNodeExists)
		require.NoError(t, c.Session().Err())
	})
}

// A node that was made without an answer under a parent that cannot be listed is
// neither adopted nor searched for all the time. It goes when it can be found.
func TestProtectedCreateBesideTooManyNodes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		const crowd = "/crowd\u202e"
		_, clear := crowded(t, s, crowd)
		var done cleanups
		var log warned
		c := connect(t, s, smallReplies, done.setting, log.setting)
		s.On(zktest.OpCreate, crowd).After().Cut()
		_, err := c.CreateProtected(t.Context(), crowd+"/place-", nil, framework.EphemeralSequential)
		require.ErrorIs(t, err, framework.ErrReplyTooLarge)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Len(t, s.Children(crowd), 201, "it was made")
		time.Sleep(time.Second)
		s.ResetCounts()
		time.Sleep(10 * timeout)
		looks := s.CountOf("client", zktest.OpGetChildren2)
		assert.GreaterOrEqual(t, looks, 8)
		assert.LessOrEqual(t, looks, 11, "each costs a large answer")
		assert.Zero(t, s.CountOf("client", zktest.OpConnect))
		assert.Zero(t, done.count())
		require.Len(t, log.lines(), 2, "of the connection, and once of what has to wait")
		assert.Contains(t, log.lines()[1], `"clean-up has to wait" path=/crowd\u202e/_c_`)
		clear()
		time.Sleep(timeout + time.Second)
		assert.Empty(t, s.Children(crowd))
		assert.Equal(t, 1, done.count())
	})
}

// With its session it goes at the latest.
func TestProtectedCreateBesideTooManyNodesEndsWithTheSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		crowded(t, s, "/crowd")
		c := connect(t, s, smallReplies)
		s.On(zktest.OpCreate, "/crowd").After().Cut()
		_, err := c.CreateProtected(t.Context(), "/crowd/place-", nil, framework.EphemeralSequential)
		require.ErrorIs(t, err, framework.ErrReplyTooLarge)
		require.NoError(t, c.Close())
		assert.Len(t, s.Children("/crowd"), 200)
	})
}
