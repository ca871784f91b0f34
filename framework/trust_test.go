package framework_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestTrustDeadlineBeginsWithTheHandshake(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.On(zktest.OpConnect, "").After().Delay(time.Second)
		asked := time.Now()
		c := connect(t, s)
		assert.Equal(t, asked.Add(window), c.Session().TrustedUntil())

		suspend(s, "client")
		before := c.Session().TrustedUntil()
		time.Sleep(2 * time.Second)
		assert.Equal(t, before, c.Session().TrustedUntil())
		reach(s, "client")
		var attached time.Time
		for _, e := range s.Trace() {
			if e.Op == zktest.OpConnect {
				attached = e.Time
			}
		}
		again := attached.Add(window)
		assert.True(t, again.After(before))
		assert.Equal(t, again, c.Session().TrustedUntil(), "a re-attachment moves it")
	})
}

// However busy or idle a session is, it is trusted for a good third of its timeout at
// any time, and never for longer than its leader surely grants.
func TestTrustDeadlineStaysAheadWhileTheServerAnswers(t *testing.T) {
	for name, pause := range map[string]time.Duration{
		"idle": time.Hour, "with a request now and then": 2 * time.Second, "busy": 10 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				for range 200 {
					time.Sleep(min(pause, 97*time.Millisecond))
					if pause < time.Hour {
						_, _, err := c.Exists(t.Context(), "/")
						require.NoError(t, err)
					}
					ahead := time.Until(c.Session().TrustedUntil())
					assert.GreaterOrEqual(t, ahead, timeout*3/8)
					assert.LessOrEqual(t, ahead, window)
					assert.GreaterOrEqual(t, time.Until(s.Sessions()[0].Deadline), ahead+margin)
				}
			})
		})
	}
}

// Pings and reads are answered by the server that the session is attached to, which may
// have no leader any more: such answers do not move the deadline.
func TestTrustDeadlineIsNotMovedWithoutTheLeader(t *testing.T) {
	for name, lose := range map[string]func(r *zktest.Rule){
		"unanswered": func(r *zktest.Rule) { r.Always().DropReply() },
		"throttled":  func(r *zktest.Rule) { r.Always().Fail(zktest.ThrottledOp) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				session := c.Session()
				time.Sleep(2 * timeout)
				lose(s.On(zktest.OpSync, ""))
				s.RefuseConnections("client", true) // it does not find a better one either
				time.Sleep(100 * time.Millisecond)
				until := session.TrustedUntil()
				for session.Err() == nil {
					_, _, _ = c.In(session).Exists(within(t, 100*time.Millisecond), "/")
					time.Sleep(100 * time.Millisecond)
					require.Equal(t, until, session.TrustedUntil())
				}
				assert.ErrorIs(t, session.Err(), framework.ErrTrustExpired)
			})
		})
	}
}

// An event proves that the server sends, not that it received anything.
func TestTrustDeadlineIsNotMovedByEvents(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		other := connectAs(t, s, "other")
		_, err := other.Create(t.Context(), "/node", nil, framework.Persistent)
		require.NoError(t, err)
		c := connect(t, s)
		session := c.Session()
		var watches []*framework.Watch
		for range 5 {
			_, _, w, err := c.ExistsWatch(t.Context(), fmt.Sprintf("/new-%d", len(watches)))
			require.NoError(t, err)
			watches = append(watches, w)
		}
		time.Sleep(timeout/3 - time.Second/2) // a ping is due soon
		s.On(zktest.OpSync, "").Client("client").Always().DropReply()
		s.On(zktest.OpPing, "").Client("client").Always().DropReply()
		until := session.TrustedUntil()
		for i, w := range watches {
			time.Sleep(200 * time.Millisecond)
			_, err := other.Create(t.Context(), fmt.Sprintf("/new-%d", i), nil, framework.Persistent)
			require.NoError(t, err)
			require.Equal(t, framework.EventCreated, (<-w.Events()).Type)
			require.Equal(t, until, session.TrustedUntil())
		}
	})
}

// CURATOR-460, scenario 20: however a network freezes, and whenever, the session ends
// here strictly before the server can expire it.
func TestSessionEndsBeforeTheServerCouldExpireIt(t *testing.T) {
	t.Parallel()
	freeze := map[string]func(s *zktest.Server){
		"partition": func(s *zktest.Server) { s.Partition("client", true) },
		"stall":     func(s *zktest.Server) { s.Stall("client", true) },
		"refusal":   func(s *zktest.Server) { s.RefuseConnections("client", true); s.DropConnections("client") },
	}
	for name, strike := range freeze {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step := range 40 {
				before, offset := timeout*time.Duration(step%2), time.Duration(step)*150*time.Millisecond
				inBubble(t, func(t *testing.T, s *zktest.Server) {
					c := connect(t, s)
					session := c.Session()
					_, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral)
					require.NoError(t, err)
					time.Sleep(before + offset)
					synctest.Wait() // a ping that is due at this moment is answered first
					until := session.TrustedUntil()
					strike(s)
					<-session.Done()
					assert.Equal(t, until, time.Now(), "frozen after %v", offset)
					assert.ErrorIs(t, session.Err(), framework.ErrTrustExpired)
					infos := s.Sessions()
					require.Len(t, infos, 1)
					assert.GreaterOrEqual(t, time.Until(infos[0].Deadline), margin, "what the server still grants")
					_, there := s.Node("/lock")
					assert.True(t, there)
				})
			}
		})
	}
}

func TestLateAnswerDoesNotReviveASession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		c := connect(t, s, recording(&seen))
		session := c.Session()
		s.Stall("client", true)
		ask := startErr(func() error { _, _, err := c.In(session).Exists(t.Context(), "/"); return err })
		<-session.Done()
		until := session.TrustedUntil()
		s.Stall("client", false) // all that was on its way arrives now, the server has not expired it
		time.Sleep(2 * time.Second)
		assert.ErrorIs(t, (<-ask).err, framework.ErrTrustExpired)
		assert.ErrorIs(t, session.Err(), framework.ErrTrustExpired)
		assert.Equal(t, until, session.TrustedUntil())
		assert.NotEqual(t, session.ID(), c.Session().ID())
		assert.Equal(t, connected, c.State())
		states := seen.states()
		assert.Equal(t, []framework.State{suspended, lost, connected}, states[len(states)-3:])
	})
}

func TestPingsKeepAnIdleSessionForAnHour(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		c := connect(t, s, recording(&seen))
		session := c.Session()
		time.Sleep(time.Hour)
		require.NoError(t, session.Err())
		assert.Equal(t, []framework.State{framework.Connecting, connected}, seen.states())
		pings := s.Count(zktest.OpPing)
		assert.InDelta(t, time.Hour/(timeout/3), pings, 2)
	})
}

// No client should have to wait until the server expires a session that this one left
// long before; but work under it was promised time to stop.
func TestLostSessionIsClosedOnTheServer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		old := c.Session()
		_, err := c.Create(t.Context(), "/lock", nil, framework.Ephemeral)
		require.NoError(t, err)
		time.Sleep(2*timeout + 100*time.Millisecond)
		s.Partition("client", true)
		<-old.Done()
		require.Equal(t, old.TrustedUntil(), time.Now())
		expiry := s.Sessions()[0].Deadline
		time.Sleep(margin / 3)
		s.Partition("client", false)
		time.Sleep(margin*2/3 - 1)
		_, there := s.Node("/lock")
		require.True(t, there, "not before the time to stop has passed")
		time.Sleep(time.Second)
		require.True(t, time.Now().Before(expiry))
		_, there = s.Node("/lock")
		assert.False(t, there)
		for _, info := range s.Sessions() {
			assert.NotEqual(t, old.ID(), info.ID)
		}
		assert.Equal(t, connected, c.State())
	})
}

// A client without a server for many timeouts leaves no goroutine that still tries.
func TestLostSessionIsNotClosedForEver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		old := c.Session()
		s.RefuseConnections("client", true)
		s.DropConnections("client")
		time.Sleep(10 * timeout)
		require.ErrorIs(t, old.Err(), framework.ErrTrustExpired)
		s.RefuseConnections("client", false)
		time.Sleep(3 * time.Second)
		require.Equal(t, connected, c.State())
		s.ResetCounts()
		time.Sleep(timeout)
		assert.Equal(t, 0, s.Count(zktest.OpConnect), "no further attempts: %v", fmt.Sprint(s.Counts()))
	})
}
