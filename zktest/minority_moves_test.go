package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Every session has its whole timeout from the split on, and requests to the minority
// give it no more.
func TestMajorityHasItsOwnClock(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		require.NoError(t, b.Close())
		time.Sleep(lifetime / 2)
		answer(t, a, zktest.OpPing, nil)
		time.Sleep(lifetime / 3)
		m := s.Split("a")
		split := time.Now()
		m.Take("b")
		for _, x := range s.Sessions() {
			require.Equal(t, split.Add(lifetime), x.Deadline)
			require.False(t, x.Connected, "the majority has no connection of %s", x.Client)
		}
		for time.Since(split) < lifetime-time.Second {
			time.Sleep(time.Second)
			answer(t, a, zktest.OpPing, nil)
			again := speaker(t, s, "b", b)
			require.NoError(t, again.Close())
			require.Len(t, s.Sessions(), 2)
			require.Equal(t, split.Add(lifetime), s.Sessions()[0].Deadline)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, s.Sessions())
		answer(t, a, zktest.OpPing, nil)
	})
}

// No event reaches the minority, and none is missing when its client returns.
func TestWatchesGoToTheMinority(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		answer(t, b, zktest.OpCreate, create("/x"))
		answer(t, a, zktest.OpExists, read("/x", true))
		answer(t, b, zktest.OpExists, read("/y", true))
		then := s.Zxid()
		m := s.Split("a")
		require.Equal(t, 2, s.Watches())
		answer(t, a, zktest.OpGetChildren2, read("/", true))
		require.Equal(t, 3, s.Watches())
		answer(t, b, zktest.OpDelete, versioned("/x"))
		require.Len(t, answer(t, b, zktest.OpCreate, create("/y")).Events, 1)
		require.Empty(t, answer(t, a, zktest.OpPing, nil).Events)
		require.Equal(t, 2, s.Watches())
		m.Return("a")
		require.Zero(t, s.Watches())
		again := speaker(t, s, "a", a)
		r := answer(t, again, zktest.OpSetWatches, func(e *jute.Encoder) {
			e.Int64(then)
			e.Strings([]string{"/x"})
			e.Strings(nil)
			e.Strings([]string{"/"})
		})
		require.Len(t, append(r.Events, answer(t, again, zktest.OpPing, nil).Events...), 2)
	})
}

// A client whose server is behind misses nothing from before the split.
func TestLaggingClientMissesNothingBeforeTheSplit(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		s.Lag("a", true)
		answer(t, a, zktest.OpExists, read("/x", true))
		answer(t, b, zktest.OpCreate, create("/x"))
		m := s.Split("a")
		require.Len(t, answer(t, a, zktest.OpPing, nil).Events, 1)
		s.Lag("a", false)
		s.Lag("a", true)
		answer(t, b, zktest.OpCreate, create("/y"))
		require.Equal(t, zktest.NoNode, answer(t, a, zktest.OpExists, read("/y", false)).Code)
		answer(t, a, zktest.OpSync, func(e *jute.Encoder) { e.String("/") })
		require.Equal(t, zktest.NoNode, answer(t, a, zktest.OpExists, read("/y", false)).Code)
		again := speaker(t, s, "a", a)
		answer(t, again, zktest.OpSync, func(e *jute.Encoder) { e.String("/") })
		require.Equal(t, zktest.NoNode, answer(t, again, zktest.OpExists, read("/y", false)).Code)
		m.Return("a")
		again = speaker(t, s, "a", a)
		require.Equal(t, zktest.NoNode, answer(t, again, zktest.OpExists, read("/y", false)).Code, "it still lags")
		answer(t, again, zktest.OpSync, func(e *jute.Encoder) { e.String("/") })
		require.Equal(t, zktest.OK, answer(t, again, zktest.OpExists, read("/y", false)).Code)
	})
}

// Clients move between the sides. The minority stays as it was.
func TestTakeAndReturn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		m := s.Split("a")
		m.Take("a") // where it is
		m.Return("b")
		answer(t, a, zktest.OpPing, nil)
		answer(t, b, zktest.OpCreate, create("/x"))
		for range 3 {
			require.Equal(t, zktest.NoNode, answer(t, a, zktest.OpExists, read("/x", false)).Code)
			m.Return("a")
			require.True(t, answer0(t, a).Closed)
			a = speaker(t, s, "a", a)
			require.Equal(t, zktest.OK, answer(t, a, zktest.OpExists, read("/x", false)).Code)
			answer(t, b, zktest.OpPing, nil)
			m.Take("a")
			require.True(t, answer0(t, a).Closed)
			a = speaker(t, s, "a", a)
		}
		m.End()
		require.True(t, answer0(t, a).Closed)
		require.NotContains(t, s.Dump(), "minority")
		a = speaker(t, s, "a", a)
		m.Take("a") // nothing happens
		m.Return("a")
		m.End()
		require.Equal(t, zktest.OK, answer(t, a, zktest.OpExists, read("/x", false)).Code)
		answer(t, b, zktest.OpPing, nil)
	})
}

// Two old leaders at the same time.
func TestTwoMinorities(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b, c := speaker(t, s, "a", nil), speaker(t, s, "b", nil), speaker(t, s, "c", nil)
		first := s.Split("a")
		answer(t, c, zktest.OpCreate, create("/x"))
		second := s.Split("b")
		answer(t, c, zktest.OpCreate, create("/y"))
		require.Contains(t, s.Dump(), "reached by [a]")
		require.Contains(t, s.Dump(), "reached by [b]")
		require.Equal(t, zktest.NoNode, answer(t, a, zktest.OpExists, read("/x", false)).Code)
		require.Equal(t, zktest.OK, answer(t, b, zktest.OpExists, read("/x", false)).Code)
		require.Equal(t, zktest.NoNode, answer(t, b, zktest.OpExists, read("/y", false)).Code)
		second.Take("a")
		require.True(t, answer0(t, a).Closed)
		a = speaker(t, s, "a", a)
		require.Equal(t, zktest.OK, answer(t, a, zktest.OpExists, read("/x", false)).Code)
		first.Return("a") // it is not there
		first.End()
		require.Equal(t, zktest.NoNode, answer(t, a, zktest.OpExists, read("/y", false)).Code)
		third := s.Split("a")
		require.True(t, answer0(t, a).Closed, "it was not on the majority")
		second.End()
		require.True(t, answer0(t, b).Closed)
		third.End()
		require.Zero(t, s.Watches())
	})
}

func TestMinorityAndTheLifeOfTheServer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		s.Split("a")
		time.Sleep(lifetime / 2)
		s.Restart(true)
		require.True(t, answer0(t, b).Closed)
		answer(t, a, zktest.OpPing, nil)
		for _, x := range s.Sessions() {
			require.Equal(t, time.Now().Add(lifetime), x.Deadline, "a restart gives each session its whole timeout")
		}

		s.Pause()
		asked := time.Now()
		time.AfterFunc(10*time.Second, s.Resume)
		answer(t, a, zktest.OpPing, nil)
		require.Equal(t, 10*time.Second, time.Since(asked), "a pause stops both sides")
		synctest.Wait()
		require.Empty(t, s.Sessions())
		answer(t, a, zktest.OpPing, nil)

		s.DropConnections("a")
		require.True(t, answer0(t, a).Closed)
		a = speaker(t, s, "a", a)
		s.RefuseConnections("a", true)
		_, err := speak(t, s, "a", a, 0)
		require.Error(t, err)
		s.RefuseConnections("a", false)
		require.False(t, s.ExpireSession(a.ID), "the majority has expired it")
		answer(t, a, zktest.OpPing, nil)

		s.Restart(false)
		require.True(t, answer0(t, a).Closed)
		speaker(t, s, "a", nil)
	})
}

// Close ends connections to a minority, also one that waits for a commit.
func TestServerClosesWithAMinority(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		m := s.Split("a", "b")
		go func() { _, _ = a.Do(zktest.OpDelete, versioned("/x")) }()
		synctest.Wait()
		s.Pause()
		s.Close()
		require.True(t, answer0(t, b).Closed)
		m.Take("c")
		m.End()
	})
}

// Rules fire on the minority, too.
func TestFaultsOnTheMinority(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
		m := s.Split("a", "b")
		s.On(zktest.OpDelete, "/x").Fail(zktest.ThrottledOp)
		require.Equal(t, zktest.ThrottledOp, answer(t, a, zktest.OpDelete, versioned("/x")).Code, "it was refused before")
		s.On(zktest.OpExists, "/").After().Cut()
		require.True(t, answer1(t, a).Closed)
		a = speaker(t, s, "a", a)
		s.On(zktest.OpExists, "/").After().Expire()
		require.True(t, answer1(t, a).Closed)
		require.Len(t, s.Sessions(), 1)
		answer(t, speaker(t, s, "a", a), zktest.OpPing, nil)
		after := s.On(zktest.OpDelete, "/x").After().Optional().Cut()
		hangs(t, b, zktest.OpDelete, versioned("/x"))
		select {
		case <-after.Fired():
			t.Fatal("it was never applied")
		default:
		}
		m.End()
		refused, err := speak(t, s, "a", a, 0)
		require.NoError(t, err)
		require.Zero(t, refused.ID)
	})
}
