package zktest_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// atOnce makes one client send many requests at once, each from a goroutine, and
// returns the trace.
func atOnce(t *testing.T, seed uint64, follows func(earlier, later zktest.Sent) bool) (order string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)),
			zktest.WithStepper(seed, synctest.Wait), zktest.WithConcurrency(follows))
		c := connect(t, s, "a", 10*time.Second)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() { _, _, _ = c.Exists(fmt.Sprintf("/n%d", i)) })
			all.Go(func() { _, _ = c.Create(fmt.Sprintf("/n%d", i), nil, 0, open) })
		}
		all.Wait()
		var b strings.Builder
		for _, e := range s.Trace() {
			fmt.Fprintln(&b, e)
		}
		order = b.String()
	})
	return order
}

func TestRequestsOfOneClientRepeat(t *testing.T) {
	never := func(_, _ zktest.Sent) bool { return false }
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	distinct := map[string]bool{}
	const seeds = 30
	for seed := range uint64(seeds) {
		runtime.GOMAXPROCS(1)
		first := atOnce(t, seed, never)
		runtime.GOMAXPROCS(4)
		require.Equal(t, first, atOnce(t, seed, never), "seed %d", seed)
		distinct[first] = true
	}
	require.Greater(t, len(distinct), seeds*3/4, "the seed must matter")
}

// pipelined sends requests for /n0, /n1 and so on without waiting for answers, and
// returns the paths in the order in which the server answered.
func pipelined(t *testing.T, seed uint64, follows func(earlier, later zktest.Sent) bool) (paths []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)),
			zktest.WithStepper(seed, synctest.Wait), zktest.WithConcurrency(follows))
		conn, err := s.Dial("a")(t.Context(), "mem", s.Addr())
		require.NoError(t, err)
		send := func(fill func(e *jute.Encoder)) {
			e := jute.NewFrame(64)
			fill(e)
			_, err := conn.Write(e.Frame())
			require.NoError(t, err)
		}
		send(func(e *jute.Encoder) {
			e.Int32(0)
			e.Int64(0)
			e.Int32(6000)
			e.Int64(0)
			e.Buffer(make([]byte, 16))
		})
		s.Settle()
		for i := range 8 {
			send(func(e *jute.Encoder) {
				e.Int32(int32(i))
				e.Int32(int32(zktest.OpExists))
				e.String(fmt.Sprintf("/n%d", i))
				e.Bool(false)
			})
		}
		s.Settle()
		require.NoError(t, conn.Close())
		for _, e := range s.Trace() {
			if e.Op == zktest.OpExists {
				paths = append(paths, e.Path)
			}
		}
	})
	return paths
}

func TestRequestsThatFollowOthersStayBehindThem(t *testing.T) {
	inOrder := []string{"/n0", "/n1", "/n2", "/n3", "/n4", "/n5", "/n6", "/n7"}
	require.Equal(t, inOrder, pipelined(t, 1, func(_, _ zktest.Sent) bool { return true }))
	free := pipelined(t, 1, func(_, _ zktest.Sent) bool { return false })
	require.NotEqual(t, inOrder, free)
	require.ElementsMatch(t, inOrder, free)
	for seed := range uint64(10) {
		paths := pipelined(t, seed, func(earlier, later zktest.Sent) bool { return earlier.Path == "/n2" })
		require.ElementsMatch(t, inOrder, paths)
		for _, later := range inOrder[3:] {
			require.Less(t, slices.Index(paths, "/n2"), slices.Index(paths, later))
		}
	}
}
