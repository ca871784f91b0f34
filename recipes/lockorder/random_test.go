package lockorder_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
)

// A grant is a lease in a random program, as the judge knows it.
type grant struct {
	*lease.Lease
	lock      string
	outer     *grant // whose context it was acquired with; nil for one that owns nothing
	worker    int    // the goroutine that has acquired it
	reentered bool
	inner     int // how many were acquired with its context and not released
}

// A judge follows a random program, and knows by the definition alone what is in which
// order: it has no graph, and goes through all ways.
type judge struct {
	grants []*grant // that are not released
	steps  map[string]bool
	cycles int
}

// owns returns the locks that a grant's context owns.
func (g *grant) owns() (locks []string) {
	for ; g != nil; g = g.outer {
		locks = append(locks, g.lock)
	}
	return locks
}

// acquires records an Acquire that may wait. It returns how long the shortest cycles
// are that it closes.
func (j *judge) acquires(outer *grant, worker int, lock string) (lengths []int) {
	owned := outer.owns()
	if slices.Contains(owned, lock) {
		return nil
	}
	for _, g := range j.grants {
		if g.worker == worker && !g.reentered {
			owned = append(owned, g.lock)
		}
	}
	slices.Sort(owned)
	for _, held := range slices.Compact(owned) {
		if step := held + ">" + lock; !j.steps[step] {
			j.steps[step] = true
			if n := j.shortest(lock, held, nil); n >= 0 {
				lengths = append(lengths, n+1)
			}
		}
	}
	j.cycles += len(lengths)
	return lengths
}

// shortest is the length of the shortest way, -1 if there is none.
func (j *judge) shortest(from, to string, before []string) int {
	if from == to {
		return 0
	}
	best := -1
	for step := range j.steps {
		next, ok := strings.CutPrefix(step, from+">")
		if !ok || slices.Contains(before, next) {
			continue
		}
		if n := j.shortest(next, to, append(slices.Clone(before), from)); n >= 0 && (best < 0 || n+1 < best) {
			best = n + 1
		}
	}
	return best
}

// workers are goroutines that carry out what they are told.
type workers []chan func()

func newWorkers(n int) (all workers, stop func()) {
	for range n {
		calls := make(chan func())
		all = append(all, calls)
		go func() {
			for call := range calls {
				call()
			}
		}()
	}
	return all, func() {
		for _, calls := range all {
			close(calls)
		}
	}
}

func (all workers) on(i int, f func()) {
	done := make(chan struct{})
	all[i] <- func() {
		defer close(done)
		f()
	}
	<-done
}

// Random programs, one call at a time, by several goroutines with any contexts.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			onSite(t, func(t *testing.T, s *site) { randomProgram(t, s, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func randomProgram(t *testing.T, s *site, random *rand.Rand) {
	t.Helper()
	j := judge{steps: map[string]bool{}}
	all, stop := newWorkers(1 + random.IntN(3))
	defer stop()
	names := "abcdef"[:2+random.IntN(5)]
	var log []string
	release := func(i int) {
		g := j.grants[i]
		j.grants = slices.Delete(j.grants, i, i+1)
		if g.outer != nil {
			g.outer.inner--
		}
		log = append(log, "release "+g.lock)
		all.on(random.IntN(len(all)), func() { s.release(g.Lease) })
	}
	for range 30 {
		if len(j.grants) > 0 && random.IntN(2) == 0 {
			if i := random.IntN(len(j.grants)); j.grants[i].inner == 0 {
				release(i)
			}
			continue
		}
		g, ctx, timeout := &grant{worker: random.IntN(len(all))}, t.Context(), time.Second
		g.lock = string(names[random.IntN(len(names))])
		if len(j.grants) > 0 && random.IntN(3) > 0 {
			g.outer = j.grants[random.IntN(len(j.grants))]
			ctx = g.outer.Context()
		}
		g.reentered = slices.Contains(g.outer.owns(), g.lock)
		if random.IntN(8) == 0 {
			timeout = 0
		}
		before := len(s.order.Cycles())
		var want []int
		if timeout > 0 {
			want = j.acquires(g.outer, g.worker, g.lock)
		}
		log = append(log, fmt.Sprintf("%d acquires %s within %v, under %v", g.worker, g.lock, timeout, g.outer.owns()))
		all.on(g.worker, func() { g.Lease, _ = s.mutex(g.lock).Acquire(ctx, timeout) })
		j.compare(t, s, s.order.Cycles()[before:], want, log)
		if g.Lease != nil {
			if g.outer != nil {
				g.outer.inner++
			}
			j.grants = append(j.grants, g)
		}
	}
	for len(j.grants) > 0 {
		release(slices.IndexFunc(j.grants, func(g *grant) bool { return g.inner == 0 }))
	}
	require.Len(t, s.order.Cycles(), j.cycles)
}

// compare compares what an Acquire has added.
func (j *judge) compare(t *testing.T, s *site, found []lockorder.Cycle, want []int, log []string) {
	t.Helper()
	program := strings.Join(log, "\n")
	require.ElementsMatch(t, slices.Collect(maps.Keys(j.steps)), strings.Fields(s.orders()), program)
	var lengths []int
	for _, c := range found {
		lengths = append(lengths, len(c.Steps))
		for i, step := range c.Steps {
			next := c.Steps[(i+1)%len(c.Steps)]
			require.Equal(t, step.Wanted, next.Held, program)
			require.LessOrEqual(t, c.Steps[0].Held, step.Held, program)
			require.Contains(t, j.steps, strings.ReplaceAll(step.Held+">"+step.Wanted, "/locks/", ""), program)
		}
	}
	require.ElementsMatch(t, want, lengths, program)
}

// Many goroutines in one order, and then two in the other one.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		clients := []lease.Acquirer{}
		other := s.client("b")
		for _, name := range "abcde" {
			clients = append(clients, s.mutex(string(name)), s.mutexOf(other, string(name)))
		}
		done := make(chan struct{})
		const goroutines = 8
		for i := range goroutines {
			go func() {
				defer func() { done <- struct{}{} }()
				random := rand.New(rand.NewPCG(uint64(i), 0))
				for range 20 {
					low := random.IntN(4)
					high := low + 1 + random.IntN(4-low)
					ctx := t.Context()
					first, err := clients[2*low+random.IntN(2)].Acquire(ctx, lease.Forever)
					if err != nil {
						t.Error(err)
						return
					}
					if random.IntN(2) == 0 {
						ctx = first.Context()
					}
					second, err := clients[2*high+random.IntN(2)].Acquire(ctx, lease.Forever)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = second.ReleaseAsync(), first.ReleaseAsync()
				}
			}()
		}
		for range goroutines {
			<-done
		}
		require.Empty(t, s.order.Cycles())
		s.nest(s.mutexes("ea")...)
		require.Len(t, s.order.Cycles(), 1)
		require.Equal(t, "a,e", s.found())
	})
}
