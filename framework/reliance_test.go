package framework_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// makeNodes makes ephemeral nodes and returns a view of the client that is pinned to
// the session that owns them.
func makeNodes(t *testing.T, c *framework.Client, paths ...string) *framework.Client {
	t.Helper()
	pinned := c.In(c.Session())
	for _, path := range paths {
		_, err := pinned.Create(t.Context(), path, nil, framework.Ephemeral)
		require.NoError(t, err)
	}
	return pinned
}

// relying makes nodes on which something relies.
func relying(t *testing.T, c *framework.Client, paths ...string) *reliance {
	t.Helper()
	r, err := kit.Of(makeNodes(t, c, paths...)).Rely(t.Context(), paths[0], paths[1:]...)
	require.NoError(t, err)
	failures := make(chan error, 2)
	r.OnFailure(func(err error) { failures <- err })
	return &reliance{r, failures}
}

// A reliance is one with what it has found.
type reliance struct {
	kit.Reliance
	failures chan error
}

// Failed receives what a check has found.
func (r *reliance) Failed() <-chan error { return r.failures }

// standing tells that all that a reliance is about is there.
func standing(t *testing.T, r *reliance) {
	t.Helper()
	select {
	case err := <-r.Failed():
		assert.NoError(t, err)
	default:
	}
}

// silenceVouching loses the transactions by which a quorum vouches, and all answers to
// them.
func silenceVouching(s *zktest.Server) (end func()) {
	return s.On(zktest.OpMulti, "").Always().DropReply().Remove
}

// A session on which something relies is vouched for every quarter of its timeout, by
// one small transaction, if it makes none itself.
func TestIdleSessionIsVouchedForEveryQuarterOfItsTimeout(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		time.Sleep(10 * timeout)
		assert.Zero(t, s.Count(zktest.OpMulti), "nothing relies on it")
		r := relying(t, c, "/a")
		for range 100 {
			time.Sleep(timeout / 10)
			assert.GreaterOrEqual(t, time.Until(c.Session().TrustedUntil()), timeout*3/8)
		}
		assert.InDelta(t, 40, s.Count(zktest.OpMulti), 6)

		for i := range 100 { // its own transactions will do
			_, err := c.Set(t.Context(), "/a", nil, framework.AnyVersion)
			require.NoError(t, err)
			if i == 0 {
				synctest.Wait() // a transaction may be due now
				s.ResetCounts()
			}
			time.Sleep(timeout / 5)
		}
		assert.Zero(t, s.Count(zktest.OpMulti))
		for range 100 { // those that fail will not
			time.Sleep(timeout / 10)
			_, err := c.Set(t.Context(), "/none", nil, framework.AnyVersion)
			require.ErrorIs(t, err, framework.ErrNoNode)
		}
		assert.InDelta(t, 40, s.Count(zktest.OpMulti), 6)

		r.End()
		r.End()
		synctest.Wait()
		s.ResetCounts()
		time.Sleep(10 * timeout)
		assert.Zero(t, s.Count(zktest.OpMulti), "nothing relies on it any more")
		standing(t, r)
	})
}

// Pings, reads and syncs are answered as ever, and handshakes too, but nothing is
// committed: the session ends five sixths of its timeout after the newest transaction.
func TestSessionThatIsReliedOnEndsWithoutAQuorum(t *testing.T) {
	for name, breaks := range map[string]bool{"attached": false, "attaching again and again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				r := relying(t, c, "/a")
				defer r.End()
				session := c.Session()
				time.Sleep(timeout * 21 / 10)
				silenceVouching(s)
				var newest time.Time
				for _, e := range s.Trace() {
					if e.Op == zktest.OpMulti && e.Phase == zktest.PhaseAfterApply {
						newest = e.Time
					}
				}
				require.Less(t, time.Since(newest), timeout/3)
				for session.Err() == nil {
					_, _, _ = c.In(session).Exists(within(t, 100*time.Millisecond), "/")
					if breaks {
						s.DropConnections("client")
					}
					time.Sleep(50 * time.Millisecond)
					assert.LessOrEqual(t, session.TrustedUntil().Sub(newest), window)
				}
				assert.ErrorIs(t, session.Err(), framework.ErrTrustExpired)
				assert.WithinDuration(t, newest.Add(window), time.Now(), 200*time.Millisecond)
				time.Sleep(margin)
				assert.Equal(t, newest.Add(window), session.TrustedUntil(), "whatever is let go afterwards")
			})
		})
	}
}

// A session that nothing relies on lives on without a quorum, and is vouched for before
// something does.
func TestNothingIsReliedOnWithoutAQuorum(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		pinned := makeNodes(t, c, "/a")
		session := c.Session()
		time.Sleep(timeout/2 - 1)
		r, err := kit.Of(pinned).Rely(t.Context(), "/a")
		require.NoError(t, err)
		assert.Zero(t, s.Count(zktest.OpMulti), "the newest transaction is young enough")
		r.End()
		time.Sleep(timeout / 12)

		end := silenceVouching(s)
		time.Sleep(3 * timeout)
		require.NoError(t, session.Err())
		_, err = kit.Of(pinned).Rely(within(t, timeout/3), "/a")
		require.ErrorIs(t, err, errStopped)
		require.NoError(t, session.Err())
		assert.Greater(t, time.Until(session.TrustedUntil()), timeout/3, "nothing came to rely on it")

		waiting := start(func() (kit.Reliance, error) { return kit.Of(pinned).Rely(t.Context(), "/a") })
		time.Sleep(2 * timeout)
		require.Empty(t, waiting)
		end()
		done := <-waiting
		require.NoError(t, done.err)
		assert.LessOrEqual(t, done.took, 3*timeout)
		assert.NoError(t, session.Err())
		assert.Positive(t, time.Until(session.TrustedUntil()))
		done.value.End()
	})
}

func TestRelyFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		pinned := makeNodes(t, c, "/a")
		time.Sleep(timeout)
		_, err := kit.Of(pinned).Rely(t.Context(), "/a", "/none")
		require.ErrorIs(t, err, framework.ErrNoNode)
		assert.ErrorContains(t, err, "/none")
		s.ExpireSession(c.Session().ID())
		time.Sleep(time.Second)
		_, err = kit.Of(pinned).Rely(t.Context(), "/a")
		require.ErrorIs(t, err, framework.ErrSessionLost)

		next, err := c.Create(t.Context(), "/b", nil, framework.Ephemeral)
		require.NoError(t, err)
		r, err := kit.Of(c).Rely(t.Context(), next.Path)
		require.NoError(t, err, "the present session")
		r.End()
		c.Close()
		_, err = kit.Of(c).Rely(t.Context(), next.Path)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// What a server gets on a new connection: credentials, the transaction, and then all
// else.
func TestQuorumVouchesBeforeAnythingElseIsAsked(t *testing.T) {
	creator := func(string) []framework.ACL { return framework.CreatorACL(framework.PermAll) }
	for name, settings := range map[string][]setting{
		"open": nil,
		"with credentials": {func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("someone", "else"), framework.DigestAuth("user", "password")}
			cfg.ACL = creator
		}},
	} {
		for _, watches := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, watches: %v", name, watches), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					c := connect(t, s, settings...)
					r := relying(t, c, "/a")
					defer r.End()
					if watches {
						_, _, _, err := c.GetWatch(t.Context(), "/a")
						require.NoError(t, err)
					}
					time.Sleep(timeout / 8)
					for range 3 {
						before := len(s.Trace())
						s.DropConnections("client")
						<-startErr(func() error { _, _, err := c.Exists(t.Context(), "/a"); return err })
						attached := time.Now()
						time.Sleep(timeout / 100)
						var ops []zktest.Op
						for _, e := range s.Trace()[before:] {
							if e.Op != zktest.OpConnect && e.Op != zktest.OpAuth {
								ops = append(ops, e.Op)
							}
						}
						require.NotEmpty(t, ops)
						assert.Equal(t, zktest.OpMulti, ops[0], "%v", ops)
						assert.False(t, c.Session().TrustedUntil().Before(attached.Add(window-100*time.Millisecond)))
					}
					standing(t, r)
				})
			})
		}
	}
}

// The node of one reliance is gone, and no other fails; the others are checked again at
// once.
func TestMissingNodeEndsOnlyWhatReliesOnIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c, other := connect(t, s), connectAs(t, s, "other")
		r1, r2, r3 := relying(t, c, "/a"), relying(t, c, "/b", "/c"), relying(t, c, "/d")
		require.NoError(t, other.Delete(t.Context(), "/b", framework.AnyVersion))
		_, err := other.SetACL(t.Context(), "/d", framework.WorldACL(framework.PermDelete), framework.AnyVersion)
		require.NoError(t, err)
		time.Sleep(timeout * 5 / 16)
		require.ErrorIs(t, <-r2.Failed(), framework.ErrNoNode)
		require.ErrorIs(t, <-r3.Failed(), framework.ErrNoAuth)
		assert.Equal(t, 3, s.Count(zktest.OpMulti), "two that failed, and the rest at once")
		assert.Greater(t, time.Until(c.Session().TrustedUntil()), timeout/3)
		time.Sleep(5 * timeout)
		require.NoError(t, c.Session().Err())
		standing(t, r1)
		standing(t, r2)
		for _, r := range []*reliance{r1, r2, r3} {
			r.End()
		}
	})
}

// What is let go while it is being checked was not missing.
func TestNodeOfAnEndedRelianceIsNotMissed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		r1, r2 := relying(t, c, "/a"), relying(t, c, "/b")
		rule := s.On(zktest.OpMulti, "")
		rule.Delay(timeout / 10)
		<-rule.Fired()
		r1.End()
		other := connectAs(t, s, "other")
		require.NoError(t, other.Delete(t.Context(), "/a", framework.AnyVersion))
		time.Sleep(timeout)
		standing(t, r1)
		standing(t, r2)
		assert.NoError(t, c.Session().Err())
		r2.End()
	})
}

// However many nodes there are, a check is small, and each node has its turn.
func TestManyNodesAreCheckedInTurn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c, other := connect(t, s), connectAs(t, s, "other")
		const many = 100
		var all []*reliance
		for i := range many {
			all = append(all, relying(t, c, fmt.Sprintf("/node-%03d", i)))
		}
		for i := range many {
			require.NoError(t, other.Delete(t.Context(), fmt.Sprintf("/node-%03d", many-1-i), framework.AnyVersion))
			time.Sleep(timeout * 5 / 4) // four turns
			select {
			case err := <-all[many-1-i].Failed():
				require.ErrorIs(t, err, framework.ErrNoNode)
			default:
				t.Fatalf("the end of node %d was not seen", many-1-i)
			}
		}
		for _, r := range all {
			r.End()
		}
		require.NoError(t, c.Session().Err())
	})
}

// A transaction whose answer is dropped is repeated: on the next connection, at once.
func TestVouchingWhoseAnswerIsDroppedIsRepeated(t *testing.T) {
	for name, lose := range map[string]func(r *zktest.Rule){
		"cut before": func(r *zktest.Rule) { r.Cut() },
		"cut after":  func(r *zktest.Rule) { r.After().Cut() },
		"muted":      func(r *zktest.Rule) { r.Mute() },
		"throttled":  func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		"moved":      func(r *zktest.Rule) { r.Fail(zktest.SessionMoved) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				r := relying(t, c, "/a")
				session := c.Session()
				for range 5 {
					rule := s.On(zktest.OpMulti, "")
					lose(rule)
					<-rule.Fired()
					time.Sleep(timeout * 3 / 4) // two thirds are the most that an answer may take
					require.NoError(t, session.Err())
				}
				standing(t, r)
				r.End()
			})
		})
	}
}

func TestSessionExpiresInAVouching(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		r := relying(t, c, "/a")
		defer r.End()
		session := c.Session()
		rule := s.On(zktest.OpMulti, "")
		rule.Fail(zktest.SessionExpired)
		<-rule.Fired()
		synctest.Wait()
		assert.ErrorIs(t, session.Err(), framework.ErrSessionExpired)
	})
}
