package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	connected = framework.Connected
	suspended = framework.Suspended
	lost      = framework.Lost
	closed    = framework.Closed
)

func TestStatesOfSuspensionAndReattachment(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		c := connect(t, s, recording(&seen))
		id := c.Session().ID()
		for range 3 {
			suspend(s, "client")
			assert.Equal(t, suspended, c.State())
			reach(s, "client")
			assert.Equal(t, connected, c.State())
		}
		require.NoError(t, c.Close())
		assert.Equal(t, []framework.State{
			framework.Connecting, connected, suspended, connected, suspended, connected, suspended, connected, closed,
		}, seen.states())
		for _, change := range seen.all() {
			switch change.State {
			case connected, suspended:
				assert.Equal(t, id, change.Session)
			default:
				assert.Zero(t, change.Session)
			}
			assert.Equal(t, change.State == suspended, change.Err != nil, "%v", change)
		}
	})
}

func TestStatesOfAnExpiredSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		c := connect(t, s, recording(&seen))
		old := c.Session()
		require.True(t, s.ExpireSession(old.ID()))
		time.Sleep(time.Second)
		require.NotEqual(t, old.ID(), c.Session().ID())
		require.NoError(t, c.Close())
		require.Equal(t, []framework.State{framework.Connecting, connected, suspended, lost, connected, closed}, seen.states())
		changes := seen.all()
		assert.Equal(t, old.ID(), changes[3].Session)
		assert.ErrorIs(t, changes[3].Err, framework.ErrSessionExpired)
		assert.ErrorIs(t, changes[3].Err, framework.ErrSessionLost)
		assert.Equal(t, c.Session().ID(), changes[4].Session)
		assert.ErrorIs(t, old.Err(), framework.ErrSessionExpired)
	})
}

func TestStatesBeginWithThePresentOneAndEndWithClosed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		var states []framework.State
		done := startErr(func() error {
			for change := range c.States(t.Context()) {
				states = append(states, change.State)
			}
			return nil
		})
		synctest.Wait()
		require.NoError(t, c.Close())
		<-done
		assert.Equal(t, []framework.State{connected, closed}, states)
		for change := range c.States(t.Context()) {
			assert.Equal(t, closed, change.State, "of a client that is closed already")
		}
	})
}

// The first session may come before the goroutine that reports has run.
func TestObserverIsNotifiedOfEveryStateFromTheFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		for range 100 {
			var seen record
			c, err := framework.Connect(t.Context(), config(s, "client", recording(&seen)))
			require.NoError(t, err)
			require.NoError(t, c.Close())
			require.Equal(t, []framework.State{framework.Connecting, connected, closed}, seen.states())
		}
	})
}

func TestStatesEndWithTheContext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		done := startErr(func() error {
			for range c.States(ctx) { // waits for the end
			}
			return nil
		})
		synctest.Wait()
		cancel()
		assert.Zero(t, (<-done).took)
		assert.Equal(t, connected, c.State())
	})
}

// A reader of States that is stuck for the whole life of the client delays nothing and
// misses nothing.
func TestStatesReachASlowReaderInFull(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		release := make(chan struct{})
		letGo := sync.OnceFunc(func() { close(release) })
		t.Cleanup(letGo)
		var states []framework.State
		done := startErr(func() error {
			for change := range c.States(t.Context()) {
				<-release
				states = append(states, change.State)
			}
			return nil
		})
		synctest.Wait()
		for range 50 {
			s.ExpireSession(c.Session().ID())
			time.Sleep(3 * time.Second)
			require.Equal(t, connected, c.State())
		}
		require.NoError(t, c.Close())
		letGo()
		<-done
		require.Len(t, states, 1+50*3+1)
		for i := range 50 {
			assert.Equal(t, []framework.State{suspended, lost, connected}, states[1+3*i:4+3*i])
		}
	})
}

// CURATOR-72: a client that never had a session reports no loss.
func TestLostNeverComesBeforeConnected(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		s.On(zktest.OpConnect, "").Always().After().Expire()
		_, err := framework.Connect(within(t, 20*time.Second), config(s, "client", recording(&seen)))
		require.Error(t, err)
		assert.NotContains(t, seen.states(), lost)
		assert.NotContains(t, seen.states(), suspended)
	})
}

// The session is gone before its credentials were accepted.
func TestLostNeverComesBeforeConnectedWhileAuthenticating(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var seen record
		s.On(zktest.OpAuth, "").Expire()
		c := connect(t, s, recording(&seen), func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("u", "p")}
		})
		require.NoError(t, c.Close())
		assert.Equal(t, []framework.State{framework.Connecting, connected, closed}, seen.states())
	})
}

// CURATOR-110: AwaitSession is right at any time.
func TestAwaitSessionWorksFromAnyStateOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		first, err := c.AwaitSession(t.Context())
		require.NoError(t, err)

		suspend(s, "client")
		waiting := start(func() (*framework.Session, error) { return c.AwaitSession(t.Context()) })
		time.Sleep(time.Second)
		reach(s, "client")
		r := <-waiting
		require.NoError(t, r.err)
		assert.Same(t, first, r.value)

		s.ExpireSession(first.ID())
		r = <-start(func() (*framework.Session, error) { return c.AwaitSession(t.Context()) })
		for r.value == first { // the end had not been noticed
			time.Sleep(100 * time.Millisecond)
			r = <-start(func() (*framework.Session, error) { return c.AwaitSession(t.Context()) })
		}
		require.NoError(t, r.err)
		assert.NotEqual(t, first.ID(), r.value.ID())
		_, err = c.In(first).AwaitSession(t.Context())
		assert.ErrorIs(t, err, framework.ErrSessionExpired)

		require.NoError(t, c.Close())
		_, err = c.AwaitSession(t.Context())
		assert.ErrorIs(t, err, framework.ErrClosed)
	})
}

func TestSuspendedChannelFollowsTheConnection(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		down := c.Session().Suspended()
		select {
		case <-down:
			t.Fatal("suspended although connected")
		default:
		}
		suspend(s, "client")
		<-down
		<-c.Session().Suspended()
		reach(s, "client")
		select {
		case <-c.Session().Suspended():
			t.Fatal("suspended although connected again")
		default:
		}
	})
}
