package zktest_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

// answer1 reads the root, on a connection that may be closed.
func answer1(t *testing.T, c *script.Conn) script.Reply {
	t.Helper()
	r, err := c.Do(zktest.OpExists, read("/", false))
	require.NoError(t, err)
	return r
}

func TestTraceOfASplit(t *testing.T) {
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		a := speaker(t, s, "a", nil)
		m := s.Split("a")
		speaker(t, s, "b", nil)
		answer1(t, a)
		hangs(t, a, zktest.OpDelete, versioned("/x"))
		hangs(t, a, zktest.OpPing, nil)
		speaker(t, s, "a", a)
		_, err := speak(t, s, "a", nil, 0)
		require.Error(t, err)
		require.Contains(t, s.Dump(), fmt.Sprintf("minority at zxid %d, reached by [a]", s.Trace()[0].Zxid))
		m.End()
		var lines []string
		for _, e := range s.Trace() {
			lines = append(lines, e.String())
			require.Equal(t, e.Client == "a" && e.N > 1 && e.Phase != zktest.PhaseExpire, e.Minority)
		}
		require.Equal(t, []string{
			"1 a after connect : ok zxid 1", "2 b after connect : ok zxid 2",
			"3 a after exists / by the minority: ok zxid 1", "4 a before delete /x: hangs, there is no quorum",
		}, lines[:4])
		require.Contains(t, lines, "7 a after connect  by the minority: ok zxid 1")
		require.Contains(t, lines, "8 a connect connect : hangs, there is no quorum")
	})
}

// writable encodes the part of a create behind the path.
func writable(e *jute.Encoder) {
	e.Buffer(nil)
	e.ACLs([]jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}})
	e.Int32(0)
}

// splitRun lets clients contend while the server splits, moves clients, and ends the
// split. It returns the trace.
func splitRun(t *testing.T, seed uint64) (trace string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)), zktest.WithStepper(seed, synctest.Wait),
			zktest.WithConcurrency(func(_, _ zktest.Sent) bool { return false }))
		done := make(chan struct{})
		for i := range 3 {
			go func() {
				defer func() { done <- struct{}{} }()
				c := &plainClient{t: t, dial: dialer(s, fmt.Sprintf("client%d", i))}
				for n := range 6 {
					c.do(zktest.OpCreate, fmt.Sprintf("/n%d", n), writable)
					c.do(zktest.OpExists, fmt.Sprintf("/n%d", n), func(e *jute.Encoder) { e.Bool(true) })
					time.Sleep(time.Second)
				}
				if c.conn != nil {
					_ = c.conn.Close()
				}
			}()
		}
		var m *zktest.Minority
		for i, act := range []func(){
			func() { m = s.Split("client0", "client1") }, func() { m.Return("client1") }, func() { m.Take("client1") },
			s.Pause, s.Resume, func() { s.Restart(true) }, func() { m.End() },
		} {
			time.Sleep(time.Duration(1300+10*int(seed%50)+i) * time.Millisecond)
			s.Settle()
			act()
		}
		for range 3 {
			<-done
		}
		time.Sleep(10 * time.Second)
		s.Settle()
		trace = written(s.Trace())
	})
	return trace
}

func TestSplitsRepeat(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	distinct, hung := map[string]bool{}, 0
	for seed := range uint64(40) {
		runtime.GOMAXPROCS(1)
		first := splitRun(t, seed)
		runtime.GOMAXPROCS(4)
		require.Equal(t, first, splitRun(t, seed), "seed %d", seed)
		distinct[first] = true
		hung += strings.Count(first, "no quorum")
	}
	require.Greater(t, len(distinct), 20)
	require.Greater(t, hung, 40, "clients were on the minority")
}

// A split over TCP, in real time.
func TestSplitOverTCP(t *testing.T) {
	s := zktest.NewServer(t, zktest.WithSessionTimeouts(time.Millisecond, time.Minute))
	a, b := speaker(t, s, "a", nil), speaker(t, s, "b", nil)
	m := s.Split("a")
	answer(t, b, zktest.OpCreate, create("/x"))
	require.Equal(t, zktest.NoNode, answer(t, a, zktest.OpExists, read("/x", false)).Code)
	require.True(t, s.ExpireSession(a.ID))
	a = speaker(t, s, "a", a)
	answer(t, a, zktest.OpPing, nil)
	hung := make(chan bool)
	go func() {
		r, err := a.Do(zktest.OpDelete, versioned("/x"))
		hung <- err == nil && r.Closed
	}()
	arrived := func(e zktest.Event) bool { return e.Op == zktest.OpDelete }
	for !slices.ContainsFunc(s.Trace(), arrived) {
		answer(t, b, zktest.OpExists, read("/", false))
	}
	m.Take("b")
	require.True(t, answer0(t, b).Closed)
	b = speaker(t, s, "b", b)
	require.Equal(t, zktest.NoNode, answer(t, b, zktest.OpExists, read("/x", false)).Code)
	m.End()
	require.True(t, <-hung)
	_, found := s.Node("/x")
	require.True(t, found)
}
