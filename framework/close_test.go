package framework_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// closeLimit is how long Close may wait for a server, and a little more.
const closeLimit = time.Second + 50*time.Millisecond

// closes closes a client and returns how long that took.
func closes(t *testing.T, c *framework.Client) time.Duration {
	t.Helper()
	begun := time.Now()
	require.NoError(t, c.Close())
	assert.Equal(t, closed, c.State())
	return time.Since(begun)
}

func TestCloseEndsTheSessionOnTheServer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral)
		require.NoError(t, err)
		assert.Less(t, closes(t, c), 50*time.Millisecond)
		assert.Empty(t, s.Sessions())
		gone(t, s)
		assert.Equal(t, 1, s.Count(zktest.OpClose))
		assert.ErrorIs(t, c.Session().Err(), framework.ErrClosed)
	})
}

func TestCloseIsIdempotentAndMayBeCalledByMany(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		view, err := c.Namespace("ns")
		require.NoError(t, err)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if i%2 == 0 {
					assert.NoError(t, view.Close())
				} else {
					assert.NoError(t, c.Close())
				}
				assert.Empty(t, s.Sessions(), "none returns before all is done")
			})
		}
		all.Wait()
		require.NoError(t, c.Close())
		assert.Equal(t, 1, s.Count(zktest.OpClose))
	})
}

// Whatever the state of things, Close comes back after about a second.
func TestCloseIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(s *zktest.Server)
		limit   time.Duration
	}{
		"connection just dropped": {func(s *zktest.Server) { s.DropConnections("client") }, 50 * time.Millisecond},
		"suspended":               {func(s *zktest.Server) { suspend(s, "client") }, closeLimit},
		"suspended for a while":   {func(s *zktest.Server) { suspend(s, "client"); time.Sleep(3 * time.Second) }, closeLimit},
		"partitioned":             {func(s *zktest.Server) { s.Partition("client", true) }, closeLimit},
		"partitioned for a while": {func(s *zktest.Server) { s.Partition("client", true); time.Sleep(4500 * time.Millisecond) }, closeLimit},
		"lost":                    {func(s *zktest.Server) { s.Partition("client", true); time.Sleep(timeout) }, closeLimit},
		"paused":                  {func(s *zktest.Server) { s.Pause() }, closeLimit},
		"paused for a while":      {func(s *zktest.Server) { s.Pause(); time.Sleep(5 * time.Second) }, closeLimit},
		"close is not answered":   {func(s *zktest.Server) { s.On(zktest.OpClose, "").DropReply() }, closeLimit},
		"close is answered late":  {func(s *zktest.Server) { s.On(zktest.OpClose, "").After().Delay(500 * time.Millisecond) }, 550 * time.Millisecond},
		"cut at the close":        {func(s *zktest.Server) { s.On(zktest.OpClose, "").Cut() }, closeLimit},
		"expired meanwhile":       {func(s *zktest.Server) { s.ExpireSession(s.Sessions()[0].ID) }, closeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				_, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral)
				require.NoError(t, err)
				tc.prepare(s)
				pending := startErr(func() error { _, _, err := c.Exists(t.Context(), "/"); return err })
				synctest.Wait()
				assert.LessOrEqual(t, closes(t, c), tc.limit)
				synctest.Wait()
				select {
				case r := <-pending:
					if r.err != nil {
						assert.ErrorIs(t, r.err, framework.ErrClosed)
					}
				default:
					t.Error("an operation goes on after Close")
				}
				s.Resume()
				s.Partition("client", false)
				s.RefuseConnections("client", false)
				before := s.Count(zktest.OpCreate) + s.Count(zktest.OpPing)
				time.Sleep(2 * timeout)
				gone(t, s)
				assert.Equal(t, before, s.Count(zktest.OpCreate)+s.Count(zktest.OpPing), "no sign of life after Close")
			})
		})
	}
}

// A server that can be reached gets the close, also if the session was not attached.
func TestCloseWhileSuspendedReattachesToEndTheSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral)
		require.NoError(t, err)
		suspend(s, "client")
		time.Sleep(2500 * time.Millisecond) // the pauses between attempts have grown
		s.RefuseConnections("client", false)
		require.NoError(t, c.Close())
		assert.Empty(t, s.Sessions())
		gone(t, s)
	})
}

func TestOperationsInFlightEndPromptlyWithClose(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.On(zktest.AnyOp, "/").Always().DropReply()
		s.On(zktest.OpClose, "").Always().DropReply() // Close itself takes a second
		var calls []<-chan result[struct{}]
		for i := range 100 {
			calls = append(calls, startErr(func() error {
				_, err := c.Create(t.Context(), fmt.Sprintf("/n%d", i), nil, framework.Ephemeral)
				return err
			}), startErr(func() error { return c.Sync(t.Context(), "/") }))
		}
		synctest.Wait()
		closing := startErr(c.Close)
		for _, call := range calls {
			r := <-call
			assert.ErrorIs(t, r.err, framework.ErrClosed)
			assert.Zero(t, r.took)
		}
		assert.LessOrEqual(t, (<-closing).took, closeLimit)
	})
}

func TestOperationsThatWaitForAConnectionEndWithClose(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		suspend(s, "client")
		waiting := startErr(func() error { return c.Delete(t.Context(), "/", 0) })
		session := start(func() (*framework.Session, error) { return c.AwaitSession(t.Context()) })
		protected := startErr(func() error {
			_, err := c.CreateProtected(t.Context(), "/n-", nil, framework.EphemeralSequential)
			return err
		})
		synctest.Wait()
		closing := startErr(c.Close)
		for _, r := range []result[struct{}]{<-waiting, <-protected} {
			assert.ErrorIs(t, r.err, framework.ErrClosed)
			assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
			assert.Zero(t, r.took)
		}
		assert.ErrorIs(t, (<-session).err, framework.ErrClosed)
		require.NoError(t, (<-closing).err)
	})
}

// The library alone executed 16 stale creates after Close had returned, and kept the
// session for ever: its queue is full, its connection stuck.
func TestNothingIsExecutedAfterCloseReturned(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var j jam
		c := connect(t, s, clogging(&j))
		j.set(true)
		for i := range 60 {
			startErr(func() error {
				_, err := c.Create(t.Context(), fmt.Sprintf("/n%d", i), nil, framework.Ephemeral)
				return err
			})
		}
		synctest.Wait()
		assert.LessOrEqual(t, closes(t, c), closeLimit)
		j.set(false)
		time.Sleep(2 * timeout)
		assert.Zero(t, s.Count(zktest.OpCreate))
		assert.Empty(t, s.Sessions())
	})
}

// What was sent before Close and is stuck in the network may arrive, but only in a
// session that then ends at once.
func TestRequestsStuckInTheNetworkAtCloseLeaveNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.Stall("client", true)
		startErr(func() error { _, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral); return err })
		synctest.Wait()
		assert.LessOrEqual(t, closes(t, c), closeLimit)
		s.Stall("client", false)
		synctest.Wait()
		gone(t, s)
		assert.Empty(t, s.Sessions())
	})
}

// The socket's buffer is full and the peer is dead: even the close request cannot be
// written.
func TestCloseDoesNotHangInAWrite(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var j jam
		c := connect(t, s, clogging(&j))
		j.set(true)
		time.Sleep(time.Second) // by now a sync is stuck in the buffer
		assert.LessOrEqual(t, closes(t, c), closeLimit)
	})
}

// A connect that is given up leaves no session behind that it could have closed.
func TestConnectGivenUpWhileAuthenticatingEndsItsSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.On(zktest.OpAuth, "").Always().DropReply()
		_, err := framework.Connect(within(t, time.Second/2), config(s, "client", func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("u", "p")}
		}))
		require.ErrorIs(t, err, errStopped)
		assert.Empty(t, s.Sessions())
	})
}

// Connect obeys its context also when what hangs comes after the session.
func TestConnectGivenUpWhileItsRootIsMade(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.On(zktest.OpExists, "/apps").Always().Mute()
		err := connectInVain(t, s, time.Second, func(cfg *framework.Config) { cfg.Chroot = "/apps" })
		assert.Contains(t, err.Error(), "/apps")
	})
}
