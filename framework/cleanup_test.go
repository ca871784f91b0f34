package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// withNode runs a test with a client that has made a node /lock of that mode.
func withNode(t *testing.T, mode framework.Mode, test func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups), settings ...setting) {
	t.Helper()
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var done cleanups
		c := connect(t, s, append(settings, done.setting)...)
		_, err := c.Create(t.Context(), "/lock", nil, mode)
		require.NoError(t, err)
		s.ResetCounts()
		test(t, s, c, &done)
	})
}

func gone(t *testing.T, s *zktest.Server) {
	t.Helper()
	_, there := s.Node("/lock")
	require.False(t, there)
}

func TestGuaranteedDelete(t *testing.T) {
	withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups) {
		require.NoError(t, c.DeleteGuaranteed(t.Context(), "/lock"))
		gone(t, s)
		assert.Equal(t, 1, s.Count(zktest.OpDelete))
		time.Sleep(time.Minute)
		assert.Equal(t, 1, s.Count(zktest.OpDelete))
		_, ended := done.of("/lock")
		assert.False(t, ended, "there was nothing left for the background")
	})
}

func TestGuaranteedDeleteOfUnknownOutcomeGoesOn(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{
		"not applied": (*zktest.Rule).Before, "applied": (*zktest.Rule).After,
	} {
		t.Run(name, func(t *testing.T) {
			withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups) {
				for n := 1; n <= 3; n++ {
					aim(s.On(zktest.OpDelete, "/lock").Nth(n)).Cut()
				}
				err := c.DeleteGuaranteed(t.Context(), "/lock")
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				time.Sleep(3 * time.Second)
				gone(t, s)
				err, ended := done.of("/lock")
				assert.True(t, ended)
				assert.NoError(t, err)
				assert.NoError(t, c.Session().Err())
			})
		})
	}
}

func TestGuaranteedDeleteWhoseContextEndsGoesOn(t *testing.T) {
	t.Run("in flight", func(t *testing.T) {
		withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups) {
			s.On(zktest.OpDelete, "/lock").DropReply()
			err := c.DeleteGuaranteed(within(t, time.Second), "/lock")
			require.ErrorIs(t, err, errStopped)
			require.ErrorIs(t, err, framework.ErrUnknownOutcome)
			time.Sleep(timeout / 2)
			gone(t, s)
			_, ended := done.of("/lock")
			assert.True(t, ended)
		})
	})
	t.Run("while suspended", func(t *testing.T) {
		withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, _ *cleanups) {
			suspend(s, "client")
			err := c.DeleteGuaranteed(within(t, time.Second), "/lock")
			require.ErrorIs(t, err, errStopped)
			require.ErrorIs(t, err, framework.ErrNotConnected)
			reach(s, "client")
			gone(t, s)
		})
	})
}

// The node of a lock must go even if the client repeats nothing by itself.
func TestGuaranteedDeleteGoesOnUnderAFiniteRetryPolicy(t *testing.T) {
	for name, code := range map[string]zktest.Code{
		"throttled": zktest.ThrottledOp, "moved": zktest.SessionMoved, "timed out": zktest.OperationTimeout,
	} {
		t.Run(name, func(t *testing.T) {
			withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, _ *cleanups) {
				for n := range 4 {
					s.On(zktest.OpDelete, "/lock").Nth(n + 1).Fail(code)
				}
				require.Error(t, c.DeleteGuaranteed(t.Context(), "/lock"))
				time.Sleep(5 * time.Second)
				gone(t, s)
			}, func(cfg *framework.Config) { cfg.Retry = retry.None() })
		})
	}
}

// CURATOR-42: a node that is not there is not searched for again and again.
func TestGuaranteedDeleteOfANodeThatIsGoneIsFinal(t *testing.T) {
	withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups) {
		require.ErrorIs(t, c.DeleteGuaranteed(t.Context(), "/other"), framework.ErrNoNode)
		time.Sleep(time.Minute)
		assert.Equal(t, 1, s.Count(zktest.OpDelete))

		s.On(zktest.OpDelete, "/lock").After().Cut()
		require.ErrorIs(t, c.DeleteGuaranteed(t.Context(), "/lock"), framework.ErrUnknownOutcome)
		time.Sleep(time.Minute)
		assert.Equal(t, 3, s.Count(zktest.OpDelete), "once more, which tells that it is gone")
		err, ended := done.of("/lock")
		assert.True(t, ended)
		assert.NoError(t, err)
	})
}

func TestGuaranteedDeleteThatIsRefusedIsFinal(t *testing.T) {
	for name, tc := range map[string]struct {
		code zktest.Code
		want error
	}{"no permission": {zktest.NoAuth, framework.ErrNoAuth}, "has children": {zktest.NotEmpty, framework.ErrNotEmpty}} {
		t.Run(name, func(t *testing.T) {
			withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, _ *cleanups) {
				s.On(zktest.OpDelete, "/lock").Always().Fail(tc.code)
				require.ErrorIs(t, c.DeleteGuaranteed(t.Context(), "/lock"), tc.want)
				time.Sleep(time.Minute)
				assert.Equal(t, 1, s.Count(zktest.OpDelete))

				kit.Of(c).DeleteInBackground("/lock")
				time.Sleep(time.Minute)
				assert.Equal(t, 2, s.Count(zktest.OpDelete))
			})
		})
	}
}

// A delete by path that belongs to one session must not hit what another made under
// that name.
func TestGuaranteedDeletePinnedToASessionEndsWithIt(t *testing.T) {
	withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups) {
		old := c.Session()
		suspend(s, "client")
		err := c.In(old).DeleteGuaranteed(within(t, time.Second), "/lock")
		require.ErrorIs(t, err, errStopped)
		s.ExpireSession(old.ID())
		other := connectAs(t, s, "other")
		_, err = other.Create(t.Context(), "/lock", nil, framework.Ephemeral)
		require.NoError(t, err)
		reach(s, "client")
		time.Sleep(timeout)
		_, there := s.Node("/lock")
		assert.True(t, there)
		assert.Zero(t, s.Count(zktest.OpDelete))
		err, ended := done.of("/lock")
		assert.True(t, ended)
		assert.ErrorIs(t, err, framework.ErrSessionLost)
		require.ErrorIs(t, c.In(old).DeleteGuaranteed(t.Context(), "/lock"), framework.ErrSessionLost)
	})
}

// The removal of a persistent node goes on in the next session.
func TestGuaranteedDeleteUnpinnedOutlivesTheSession(t *testing.T) {
	withNode(t, framework.Persistent, func(t *testing.T, s *zktest.Server, c *framework.Client, done *cleanups) {
		suspend(s, "client")
		require.ErrorIs(t, c.DeleteGuaranteed(within(t, time.Second), "/lock"), errStopped)
		s.ExpireSession(c.Session().ID())
		reach(s, "client")
		time.Sleep(time.Second)
		gone(t, s)
		err, ended := done.of("/lock")
		assert.True(t, ended)
		assert.NoError(t, err)
	})
}

func TestGuaranteedDeleteUnderWayDoesNotHoldUpClose(t *testing.T) {
	withNode(t, framework.Ephemeral, func(t *testing.T, s *zktest.Server, c *framework.Client, _ *cleanups) {
		s.On(zktest.OpDelete, "/lock").Always().DropReply()
		kit.Of(c).DeleteInBackground("/lock")
		kit.Of(c.In(c.Session())).DeleteInBackground("/lock")
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, c.Close())
		assert.Less(t, time.Since(begun), 100*time.Millisecond)
		gone(t, s) // with the session
	})
}

func TestDeleteTree(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		for _, path := range []string{"/a", "/a/b", "/a/b/c", "/a/b/d", "/a/e"} {
			_, err := c.Create(t.Context(), path, nil, framework.Persistent)
			require.NoError(t, err)
		}
		// Answers are dropped, and another client makes a new node meanwhile.
		s.On(zktest.OpDelete, "/a/b/c").After().Cut()
		s.On(zktest.OpGetChildren2, "/a/b").Cut()
		other := connectAs(t, s, "other")
		held := s.On(zktest.OpDelete, "/a").Client("client").Nth(5).Delay(time.Second)
		call := startErr(func() error { return c.DeleteTree(t.Context(), "/a") })
		<-held.Fired()
		_, err := other.Create(t.Context(), "/a/late", nil, framework.Persistent)
		require.NoError(t, err)
		require.NoError(t, (<-call).err)
		_, there := s.Node("/a")
		assert.False(t, there)
		assert.ErrorIs(t, c.DeleteTree(t.Context(), "/a"), framework.ErrNoNode)
		assert.ErrorIs(t, c.DeleteTree(t.Context(), "/"), framework.ErrInvalidArgument)
	})
}

// What came before must not be forgotten over a certain end of the last attempt.
func TestDeleteTreeThatGivesUpTellsThatItMayHaveTakenEffect(t *testing.T) {
	withNode(t, framework.Persistent, func(t *testing.T, s *zktest.Server, c *framework.Client, _ *cleanups) {
		s.RefuseConnections("client", true)
		s.On(zktest.OpDelete, "/lock").After().Cut()
		err := c.DeleteTree(within(t, time.Second), "/lock")
		require.ErrorIs(t, err, errStopped)
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		assert.Equal(t, framework.Unknown, framework.OutcomeOf(err))
	})
}
