package zktest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestCutBeforeAndAfter(t *testing.T) {
	for _, after := range []bool{false, true} {
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			a := connect(t, s, "a", 10*time.Second)
			rule := s.On(zktest.OpCreate, "/locks").Nth(2)
			if after {
				rule.After()
			}
			rule.Cut()
			_, err := a.Create("/locks", nil, 0, open)
			require.NoError(t, err)
			_, err = a.Create("/locks/x", nil, 0, open)
			require.ErrorIs(t, err, zk.ErrConnectionClosed)
			<-rule.Fired()
			_, found := s.Node("/locks/x")
			require.Equal(t, after, found)
			for again := true; again; again = errors.Is(err, zk.ErrNoServer) { // while the library looks for a server
				_, err = a.Create("/locks/y", nil, 0, open)
			}
			require.NoError(t, err, "it strikes once")
		})
	}
}

func TestDropReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 10*time.Second)
		s.On(zktest.OpCreate, "/x").After().DropReply()
		dropped := make(chan error, 1)
		go func() {
			_, err := a.Create("/x", nil, 0, open)
			dropped <- err
		}()
		synctest.Wait()
		_, found := s.Node("/x")
		require.True(t, found)
		_, err := a.Create("/y", nil, 0, open)
		require.NoError(t, err, "the connection stays")
		s.DropConnections("a")
		require.Error(t, <-dropped)
	})
}

func TestDelayKeepsOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 30*time.Second), connect(t, s, "b", 30*time.Second)
		// The reply to a read with a watch is held up; the event must not overtake it,
		// or the client would not know it.
		s.On(zktest.OpGetData, "/").Client("a").After().Delay(7 * time.Second)
		start := time.Now()
		type answer struct {
			at    time.Duration
			watch <-chan zk.Event
		}
		got := make(chan answer)
		go func() {
			_, _, watch, err := a.GetW("/")
			if err != nil {
				t.Error(err)
			}
			got <- answer{time.Since(start), watch}
		}()
		synctest.Wait()
		_, err := b.Set("/", []byte("x"), -1)
		require.NoError(t, err)
		r := <-got
		require.Equal(t, 7*time.Second, r.at)
		require.Equal(t, zk.EventNodeDataChanged, (<-r.watch).Type)

		// Before the request is applied, the delay holds up the request itself.
		s.On(zktest.OpSetData, "/").Client("a").Delay(3 * time.Second)
		start = time.Now()
		go func() { _, _ = a.Set("/", []byte("late"), -1) }()
		synctest.Wait()
		node, _ := s.Node("/")
		require.Equal(t, "x", string(node.Data))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		node, _ = s.Node("/")
		require.Equal(t, "late", string(node.Data))
	})
}

func TestFail(t *testing.T) {
	s := zktest.NewServer(t)
	a := connect(t, s, "a", 10*time.Second)
	rule := s.On(zktest.AnyOp, "/x").Always().Fail(zktest.NoAuth)
	for range 2 {
		_, err := a.Create("/x", nil, 0, open)
		require.ErrorIs(t, err, zk.ErrNoAuth)
	}
	rule.Remove()
	_, err := a.Create("/x", nil, 0, open)
	require.NoError(t, err)
	s.On(zktest.OpDelete, "/x").After().Fail(zktest.NotEmpty)
	require.ErrorIs(t, a.Delete("/x", -1), zk.ErrNotEmpty)
	_, found := s.Node("/x")
	require.False(t, found, "a lie")
}

func TestMute(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 9*time.Second)
		s.On(zktest.OpExists, "/").Mute()
		start := time.Now()
		_, _, err := a.Exists("/")
		require.Error(t, err)
		require.Equal(t, 6*time.Second, time.Since(start))
		synctest.Wait() // the client refuses what it has queued when it begins to pause, and not what comes later
		_, _, err = a.Exists("/")
		require.NoError(t, err, "a new connection is not mute")
	})
}

func TestMutedHandshake(t *testing.T) {
	for name, act := range map[string]zktest.Action{"mute": zktest.Mute, "drop": zktest.DropReply} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				connect(t, s, "a", 9*time.Second)
				rule := s.On(zktest.OpConnect, "").Do(act)
				s.DropConnections("a")
				<-rule.Fired()
				time.Sleep(9 * time.Second)
				synctest.Wait()
				require.Empty(t, s.Sessions())
				time.Sleep(2 * time.Minute) // the client waits for a minute before it tries again
				require.Len(t, s.Sessions(), 1)
			})
		})
	}
}

func TestDroppedConnectReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		s.On(zktest.OpConnect, "").After().Cut()
		connect(t, s, "a", 10*time.Second)
		require.Len(t, s.Sessions(), 2, "the client knows nothing of the first")
		time.Sleep(11 * time.Second)
		require.Len(t, s.Sessions(), 1)
	})
}

func TestExpireAtARequest(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		_, _, created, err := b.ExistsW("/mine")
		require.NoError(t, err)
		s.On(zktest.OpCreate, "/mine").After().Expire()
		_, err = a.Create("/mine", nil, zk.FlagEphemeral, open)
		require.Error(t, err)
		require.Equal(t, zk.EventNodeCreated, (<-created).Type)
		_, found := s.Node("/mine")
		require.False(t, found)
	})
}

func TestFaultsOnEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 40*time.Second), connect(t, s, "b", 40*time.Second)
		_, _, watch, err := b.ExistsW("/x")
		require.NoError(t, err)
		rule := s.On(zktest.OpCreate, "/x").OnEvent().Client("b").DropReply()
		_, err = a.Create("/x", nil, 0, open)
		require.NoError(t, err)
		<-rule.Fired()
		_, _, second, err := b.GetW("/x")
		require.NoError(t, err)
		select {
		case <-watch:
			t.Fatal("the event was to be dropped")
		default:
		}
		s.On(zktest.AnyOp, "/x").OnEvent().Delay(5 * time.Second)
		start := time.Now()
		require.NoError(t, a.Delete("/x", -1))
		require.Equal(t, zk.EventNodeDeleted, (<-second).Type)
		require.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestMoreTimeAtExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		connect(t, s, "a", 10*time.Second)
		s.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Phase == zktest.PhaseExpire && c.N < 2 {
				return zktest.Delay(5 * time.Second)
			}
			return zktest.Pass
		})
		s.RefuseConnections("a", true)
		s.DropConnections("a")
		time.Sleep(14 * time.Second)
		require.Len(t, s.Sessions(), 1)
		time.Sleep(2 * time.Second)
		require.Empty(t, s.Sessions())
		s.RefuseConnections("a", false)
		time.Sleep(2 * time.Second)
	})
}

// The function of SetFaults is called without locks.
func TestHookMayUseTheServer(t *testing.T) {
	s := zktest.NewServer(t)
	a := connect(t, s, "a", 10*time.Second)
	dumps := make(chan string, 1)
	s.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Op == zktest.OpCreate && c.Phase == zktest.PhaseAfterApply {
			dumps <- s.Dump()
			s.ExpireSession(c.Session)
		}
		return zktest.Pass
	})
	_, err := a.Create("/x", []byte("data"), 0, open)
	require.Error(t, err)
	s.SetFaults(nil)
	require.Contains(t, <-dumps, `"data"`)
}

func TestCountsAndTrace(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		synctest.Wait() // or the client may set again, as after a reconnect, the watch that follows
		s.ResetCounts()
		_, err := a.Create("/x", nil, 0, open)
		require.NoError(t, err)
		_, _, _, err = b.ChildrenW("/x")
		require.NoError(t, err)
		_, _, err = b.Get("/none")
		require.Error(t, err)
		require.Equal(t, 1, s.Count(zktest.OpCreate))
		require.Equal(t, 0, s.CountOf("b", zktest.OpCreate))
		require.Equal(t, map[zktest.Op]int{zktest.OpCreate: 1, zktest.OpGetChildren2: 1, zktest.OpGetData: 1}, s.Counts())
		trace := s.Trace()
		require.Len(t, trace, 3)
		require.Equal(t, zktest.OpCreate, trace[0].Op)
		require.True(t, trace[1].Watch)
		require.Equal(t, zktest.NoNode, trace[2].Code)
		require.Equal(t, 1, s.Watches())
		require.Equal(t, []string{"x", "zookeeper"}, s.Children("/"))
	}, zktest.WithTraceLimit(3))
}
