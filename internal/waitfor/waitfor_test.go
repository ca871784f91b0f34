package waitfor_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/internal/waitfor"
)

// everybody leaves nobody out.
func everybody(*waitfor.Contender) bool { return false }

// inModels runs a test with random models, as many of which have a deadlock as needed.
func inModels(t *testing.T, test func(t *testing.T, m *model, left int)) {
	first, runs, deadlocks := extent.Amount(t, "ZKRECIPES_SEED", 1), 8000/extent.Slowdown(), 0
	for seed := first; seed < first+runs; seed++ {
		m := newModel(rand.New(rand.NewPCG(uint64(seed), 0)))
		ends := m.ends()
		require.Len(t, ends, 1, "seed %d: the order does not matter\n%v", seed, m)
		if ends[0] != 0 {
			deadlocks++
		}
		test(t, m, ends[0])
		if t.Failed() {
			t.Fatalf("seed %d\n%v", seed, m)
		}
	}
	require.Greater(t, deadlocks, runs/10)
	require.Less(t, deadlocks, runs*9/10)
}

// Who is stuck is who is left when all that can go have gone.
func TestStuckIsWhoIsLeft(t *testing.T) {
	inModels(t, func(t *testing.T, m *model, left int) {
		queues, all := m.graph()
		for range 2 { // what it was before does not matter
			waitfor.Reduce(queues)
			for i, c := range all {
				if want := left>>i&1 == 1; c.Stuck() != want {
					t.Errorf("%d is stuck: %v, not %v", i, c.Stuck(), want)
				}
			}
		}
	})
}

// reachable returns who can be reached from one, over at least one edge.
func reachable(to [][]int, from int) map[int]bool {
	seen := map[int]bool{}
	for todo := []int{from}; len(todo) > 0; todo = todo[1:] {
		for _, next := range to[todo[0]] {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return seen
}

// components returns those who can reach each other, in order.
func components(to [][]int) (all [][]int) {
	done := map[int]bool{}
	for i := range to {
		out := reachable(to, i)
		if done[i] || !out[i] {
			continue
		}
		var members []int
		for j := range to {
			if out[j] && reachable(to, j)[i] {
				members = append(members, j)
				done[j] = true
			}
		}
		all = append(all, members)
	}
	return all
}

// distance returns the length of a shortest cycle through one, 0 if there is none.
func distance(to [][]int, from int, without func(i, j int) bool) int {
	far := map[int]int{}
	for todo := []int{from}; len(todo) > 0; todo = todo[1:] {
		for _, next := range to[todo[0]] {
			if _, seen := far[next]; !seen && !without(todo[0], next) {
				far[next] = far[todo[0]] + 1
				todo = append(todo, next)
			}
			if next == from {
				break
			}
		}
	}
	return far[from]
}

// shortest returns the length of a shortest cycle of some members.
func (m *model) shortest(to [][]int, members []int) int {
	for _, own := range []bool{false, true} {
		best := 0
		for _, i := range members {
			d := distance(to, i, func(i, j int) bool { return !own && m.all[i].waits && slices.Contains(m.all[i].owns, j) })
			if d > 0 && (best == 0 || d < best) {
				best = d
			}
		}
		if best > 0 {
			return best
		}
	}
	return 0
}

// Each component has a shortest cycle, and each deadlock has a component.
func TestCyclesAreShortestOnes(t *testing.T) {
	inModels(t, func(t *testing.T, m *model, left int) {
		queues, _ := m.graph()
		waitfor.Reduce(queues)
		found, to := waitfor.Components(queues, everybody), m.edges(left)
		want := components(to)
		require.Len(t, found, len(want), m)
		require.Equal(t, left != 0, len(found) > 0, m)
		for k, c := range found {
			// Writers that wait between a reader and a holder belong to it only if a
			// reader waits for them directly.
			for _, member := range c.Members {
				require.Contains(t, want[k], member.ID, m)
			}
			for _, i := range want[k] {
				in := func(c *waitfor.Contender) bool { return c.ID == i }
				require.True(t, m.all[i].waits || slices.ContainsFunc(c.Members, in), m)
			}
			require.Len(t, c.Cycle, m.shortest(to, want[k]), m)
			require.True(t, c.Cycle[0].Waits, m)
			for at, member := range c.Cycle {
				require.Contains(t, to[member.ID], c.Cycle[(at+1)%len(c.Cycle)].ID, m)
			}
		}
	})
}

// What is left out is in no component, nor is a cycle that leads through it.
func TestComponentsWithoutSome(t *testing.T) {
	inModels(t, func(t *testing.T, m *model, _ int) {
		queues, _ := m.graph()
		waitfor.Reduce(queues)
		found := waitfor.Components(queues, everybody)
		if len(found) == 0 {
			return
		}
		out := found[0].Cycle[0]
		for _, c := range waitfor.Components(queues, func(c *waitfor.Contender) bool { return c == out }) {
			require.NotContains(t, c.Members, out)
		}
		all := map[*waitfor.Contender]bool{}
		for _, c := range found {
			for _, member := range c.Members {
				all[member] = true
			}
		}
		require.Empty(t, waitfor.Components(queues, func(c *waitfor.Contender) bool { return all[c] }))
	})
}

// A chain that ends is not a deadlock, however long it is, and a ring is one.
func TestLongRing(t *testing.T) {
	const n = 3000
	var queues []*waitfor.Queue
	for i := range n {
		held, waits := &waitfor.Contender{ID: 2 * i, Takes: 1}, &waitfor.Contender{ID: 2*i + 1, Waits: true, Takes: 1, Needs: 1}
		if i > 0 {
			waits.Owns = append(waits.Owns, queues[i-1].Contenders[0])
		}
		queues = append(queues, &waitfor.Queue{Size: 1, Contenders: []*waitfor.Contender{held, waits}})
	}
	waitfor.Reduce(queues)
	require.Empty(t, waitfor.Components(queues, everybody))
	queues[0].Contenders[1].Owns = []*waitfor.Contender{queues[n-1].Contenders[0]}
	waitfor.Reduce(queues)
	found := waitfor.Components(queues, everybody)
	require.Len(t, found, 1)
	require.Len(t, found[0].Cycle, 2*n)
}
