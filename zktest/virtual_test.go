package zktest_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// inBubble runs a test in virtual time, with a server on a network of its own.
func inBubble(t *testing.T, test func(t *testing.T, s *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, zktest.NewServer(t, append(opts, zktest.WithNetwork(new(zktest.Network)))...))
	})
}

func TestSessionExpiresOnVirtualTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		_, err := a.Create("/mine", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		_, _, gone, err := b.ExistsW("/mine")
		require.NoError(t, err)
		old := a.SessionID()
		synctest.Wait()
		start := time.Now()
		s.RefuseConnections("a", true)
		s.DropConnections("a")
		require.Equal(t, zk.EventNodeDeleted, (<-gone).Type)
		require.Equal(t, 10*time.Second, time.Since(start), "the session lives exactly its timeout")
		s.RefuseConnections("a", false)
		time.Sleep(5 * time.Second)
		require.NotEqual(t, old, a.SessionID())
		require.Len(t, s.Sessions(), 2)
	})
}

func TestPingsKeepASessionAlive(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 6*time.Second)
		id := a.SessionID()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, id, a.SessionID())
		require.Equal(t, 1800, s.Count(zktest.OpPing), "a ping every third of the timeout")
	})
}

func TestPartitionHidesEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second)
		_, err := a.Create("/mine", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		_, _, gone, err := b.ExistsW("/mine")
		require.NoError(t, err)
		s.Partition("a", true)
		start := time.Now()
		_, err = a.Create("/late", nil, 0, open)
		require.Error(t, err)
		require.InDelta(t, 6.7, time.Since(start).Seconds(), 0.1, "two thirds of the timeout, found out by the client alone")
		<-gone
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Dial("a")(ctx, "tcp", s.Addr())
		require.ErrorIs(t, err, context.DeadlineExceeded, "dialing blocks")
		s.Partition("a", false)
		time.Sleep(10 * time.Second)
		_, found := s.Node("/late")
		require.False(t, found, "dropped bytes never arrive")
		_, err = a.Create("/again", nil, 0, open)
		require.NoError(t, err)
	})
}

func TestStalledRequestArrivesLate(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 20*time.Second)
		s.Stall("a", true)
		_, err := a.Create("/late", nil, 0, open)
		require.Error(t, err, "the client gave up")
		_, found := s.Node("/late")
		require.False(t, found)
		s.Stall("a", false)
		synctest.Wait()
		_, found = s.Node("/late")
		require.True(t, found, "and still it takes effect")
	})
}

func TestPause(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a, b := connect(t, s, "a", 10*time.Second), connect(t, s, "b", 40*time.Second)
		id := a.SessionID()
		_, err := a.Create("/mine", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		s.RefuseConnections("a", true)
		s.DropConnections("a")
		s.Pause()
		got := make(chan error, 1)
		go func() { // b's request waits in the paused server
			_, err := b.Create("/from-b", nil, 0, open)
			got <- err
		}()
		time.Sleep(15 * time.Second)
		require.Len(t, s.Sessions(), 2, "a paused server expires no session")
		_, found := s.Node("/from-b")
		require.False(t, found)
		s.Resume()
		require.NoError(t, <-got)
		synctest.Wait()
		require.Len(t, s.Sessions(), 1)
		require.NotEqual(t, id, s.Sessions()[0].ID)
		_, found = s.Node("/mine")
		require.False(t, found)
		s.RefuseConnections("a", false)
		time.Sleep(5 * time.Second)
	})
}

func TestResumeKeepsSessionsWithAWaitingRequest(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 10*time.Second)
		id := a.SessionID()
		s.Pause()
		time.Sleep(5 * time.Second) // its ping is in the buffer
		synctest.Wait()
		s.DropConnections("a")
		s.Resume()
		time.Sleep(5 * time.Second)
		require.Equal(t, id, a.SessionID())
	})
}

func TestRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 10*time.Second)
		id := a.SessionID()
		_, err := a.Create("/mine", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		s.Restart(true)
		time.Sleep(3 * time.Second)
		require.Equal(t, id, a.SessionID())
		there, _, err := a.Exists("/mine")
		require.NoError(t, err)
		require.True(t, there)

		s.Restart(false)
		time.Sleep(3 * time.Second)
		require.Empty(t, s.Sessions(), "a client that has seen later transactions is turned away")
		_, found := s.Node("/mine")
		require.False(t, found)
		b := connect(t, s, "b", 10*time.Second)
		_, err = b.Create("/new", nil, 0, open)
		require.NoError(t, err)
	})
}

func TestContainersAndTTL(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := connect(t, s, "a", 10*time.Second)
		_, err := a.CreateContainer("/c", nil, zk.FlagContainer, open)
		require.NoError(t, err)
		_, err = a.CreateTTL("/t", nil, zk.FlagTTL, open, 90*time.Second)
		require.NoError(t, err)
		time.Sleep(80 * time.Second)
		_, found := s.Node("/c")
		require.True(t, found, "a container that never had a child stays")
		_, err = a.Create("/c/x", nil, 0, open)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		_, found = s.Node("/c")
		require.True(t, found)
		_, found = s.Node("/t")
		require.False(t, found)
		_, _, gone, err := a.ExistsW("/c")
		require.NoError(t, err)
		require.NoError(t, a.Delete("/c/x", -1))
		require.Equal(t, zk.EventNodeDeleted, (<-gone).Type)
	}, zktest.WithReapInterval(time.Minute))
}

func TestIdleServerLetsVirtualTimeStand(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		start := time.Now()
		connect(t, s, "a", 10*time.Second)
		require.Equal(t, start, time.Now())
	})
}

func TestOldServer(t *testing.T) {
	s := zktest.NewServer(t, zktest.WithUnsupported(zktest.OpCreateContainer), zktest.WithoutTTL())
	a := connect(t, s, "a", 10*time.Second)
	_, err := a.CreateTTL("/t", nil, zk.FlagTTL, open, time.Minute)
	require.Error(t, err)
	require.Equal(t, 1, s.Count(zktest.OpConnect))
	_, err = a.CreateContainer("/c", nil, zk.FlagContainer, open)
	require.Error(t, err)
	_, found := s.Node("/c")
	require.False(t, found)
}

func TestSequenceNumbers(t *testing.T) {
	s := zktest.NewServer(t)
	a := connect(t, s, "a", 10*time.Second)
	_, err := a.Create("/q", nil, 0, open)
	require.NoError(t, err)
	for next, want := range map[int32]string{7: "/q/n-0000000007", math.MinInt32: "/q/n--2147483648", -5: "/q/n--000000005"} {
		require.True(t, s.SetSequence("/q", next))
		path, err := a.Create("/q/n-", nil, zk.FlagSequence, open)
		require.NoError(t, err)
		require.Equal(t, want, path)
	}
	require.False(t, s.SetSequence("/none", 1))
}

func TestSequenceNumbersAtTheirEnd(t *testing.T) {
	for name, test := range map[string]struct {
		opts []zktest.Option
		want []string
	}{
		"as in 3.8":     {nil, []string{"2147483646", "2147483647", "2147483647", "2147483647"}},
		"as documented": {[]zktest.Option{zktest.WithSequenceWrap()}, []string{"2147483646", "2147483647", "-2147483648", "-2147483647"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := zktest.NewServer(t, test.opts...)
			a := connect(t, s, "a", 10*time.Second)
			_, err := a.Create("/q", nil, 0, open)
			require.NoError(t, err)
			require.True(t, s.SetSequence("/q", math.MaxInt32-1))
			for i, want := range test.want {
				path, err := a.Create(fmt.Sprintf("/q/%d-", i), nil, zk.FlagSequence, open)
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf("/q/%d-%s", i, want), path)
			}
		})
	}
}

func TestNetworkRefusesUnknownAddresses(t *testing.T) {
	var n zktest.Network
	_, err := n.DialContext(t.Context(), "tcp", "10.0.0.1:2181")
	var op *net.OpError
	require.ErrorAs(t, err, &op)
	s := zktest.NewServer(t, zktest.WithNetwork(&n), zktest.WithAddr("zk.example:2181"))
	require.Equal(t, "zk.example:2181", s.Addr())
	_, err = zktest.Start(zktest.WithNetwork(&n), zktest.WithAddr("zk.example:2181"))
	require.Error(t, err)
	c, err := n.DialContext(t.Context(), "tcp", s.Addr())
	require.NoError(t, err)
	require.NoError(t, c.Close())
	s.Close()
	_, err = n.DialContext(t.Context(), "tcp", s.Addr())
	require.Error(t, err)
}
