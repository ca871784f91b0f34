package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A kind of line that is tried.
type line struct {
	policy Policy
	size   int
	next   func(rnd *rand.Rand) znode.Name // a contender that may join
	// fits reports whether all of these may be admitted at once.
	fits func(admitted []znode.Name) bool
}

func lines() map[string]line {
	weigh := func(names []znode.Name) (sum int) {
		for _, n := range names {
			sum += n.Weight
		}
		return sum
	}
	return map[string]line{
		"mutex": {
			policy: InLine,
			next:   func(*rand.Rand) znode.Name { return znode.Name{Kind: znode.Mutex} },
			fits:   func(admitted []znode.Name) bool { return len(admitted) <= 1 },
		},
		"readers, writers and others": {
			policy: InLine,
			next: func(rnd *rand.Rand) znode.Name {
				return znode.Name{Kind: []string{znode.Reader, znode.Reader, znode.Reader, znode.Writer, znode.Mutex}[rnd.IntN(5)]}
			},
			fits: func(admitted []znode.Name) bool {
				writers := slices.ContainsFunc(admitted, func(n znode.Name) bool { return n.Kind != znode.Reader })
				return !writers || len(admitted) == 1
			},
		},
		"permits": {
			policy: Permits, size: 7,
			next: func(rnd *rand.Rand) znode.Name { return znode.Name{Kind: znode.Permits, Weight: 1 + rnd.IntN(7)} },
			fits: func(admitted []znode.Name) bool { return weigh(admitted) <= 7 },
		},
	}
}

// Lines in which contenders join and leave at random: those who are admitted fit
// together, whoever is admitted stays so, the first is admitted, and whoever is not
// waits for some without which it could not be.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for label, l := range lines() {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(300) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				var queue []znode.Name
				was := map[string]bool{}
				for number := range int32(60) {
					if len(queue) > 0 && rnd.IntN(5) < 3 {
						at := rnd.IntN(len(queue))
						delete(was, queue[at].Node)
						queue = slices.Delete(queue, at, at+1)
					} else {
						n := l.next(rnd)
						n.Node, n.Sequence = fmt.Sprint(number), number
						queue = append(queue, n)
					}
					l.check(t, rnd, queue, was)
				}
			}
		})
	}
}

func (l line) check(t *testing.T, rnd *rand.Rand, queue []znode.Name, was map[string]bool) {
	t.Helper()
	var admitted []znode.Name
	for i, self := range queue {
		before := slices.Clone(queue)
		wait := l.policy(self, queue[:i], l.size)
		require.Equal(t, before, queue, "it changes nothing")
		require.Equal(t, wait, l.policy(self, slices.Clone(queue[:i]), l.size), "it is a function")
		if i == 0 {
			require.Empty(t, wait, "the first is admitted")
		}
		if len(wait) == 0 {
			admitted = append(admitted, self)
			was[self.Node] = true
			continue
		}
		require.False(t, was[self.Node], "what was admitted stays so")
		for _, other := range wait {
			require.Contains(t, queue[:i], other)
		}
		// Whatever leaves but one of those, it is not admitted.
		left := slices.DeleteFunc(slices.Clone(queue[:i]), func(n znode.Name) bool { return !slices.Contains(wait, n) && rnd.IntN(2) == 0 })
		require.NotEmpty(t, l.policy(self, left, l.size), "a wake-up would be missed: %v waits for %v in %v", self, wait, queue[:i])
		left = slices.DeleteFunc(left, func(n znode.Name) bool { return !slices.Contains(wait, n) })
		require.NotEmpty(t, l.policy(self, left, l.size))
	}
	require.True(t, l.fits(admitted), "%v", admitted)
}

// One release wakes one waiter, or the readers that it admits.
func TestInLineWaitsForTheNearestThatConflicts(t *testing.T) {
	t.Parallel()
	var queue []znode.Name
	for i, kind := range []string{znode.Writer, znode.Reader, znode.Reader, znode.Mutex, znode.Writer, znode.Reader} {
		queue = append(queue, znode.Name{Node: fmt.Sprint(i), Kind: kind, Sequence: int32(i)})
	}
	for i, want := range []int{-1, 0, 0, 2, 3, 4} {
		wait := InLine(queue[i], queue[:i], 0)
		if want < 0 {
			require.Empty(t, wait)
			continue
		}
		require.Equal(t, queue[want:want+1], wait)
	}
}

// Whoever is too heavy even alone is never admitted, and waits for nobody else.
func TestPermitsRefusesTheTooHeavy(t *testing.T) {
	t.Parallel()
	ahead := []znode.Name{{Node: "a", Weight: 3}}
	self := znode.Name{Node: "b", Weight: 4}
	require.Equal(t, []znode.Name{self}, Permits(self, ahead, 3))
	require.Equal(t, []znode.Name{self}, Permits(self, nil, 3))
	require.Equal(t, ahead, Permits(self, ahead, 4))
	require.Empty(t, Permits(self, nil, 4))
}

// However heavy they are, and also where an int has 32 bits.
func TestPermitsAddsUpWithoutOverflow(t *testing.T) {
	t.Parallel()
	ahead := []znode.Name{{Node: "a", Weight: math.MaxInt32}, {Node: "b", Weight: math.MaxInt32}, {Node: "c", Weight: 1}}
	require.Equal(t, ahead[1:], Permits(znode.Name{Node: "d", Weight: 1}, ahead, math.MaxInt32))
	require.Equal(t, ahead[:1], Permits(znode.Name{Node: "d", Weight: 1}, ahead[:1], math.MaxInt32))
	require.Empty(t, Permits(znode.Name{Node: "d", Weight: math.MaxInt32 - 1}, ahead[2:], math.MaxInt32))
}

// A writer whose place was taken over by a reader has gone, but that reader stands.
func TestEndOfAWriterAdmitsOnlyReadersWithoutALook(t *testing.T) {
	t.Parallel()
	q := &Queue{cfg: Config{Policy: InLine}}
	writer, reader, other := znode.Name{Node: "w", Kind: znode.Writer}, znode.Name{Node: "r", Kind: znode.Reader}, znode.Name{Node: "m", Kind: znode.Mutex}
	require.False(t, q.admittedWithout(writer, znode.Name{Kind: znode.Writer}, []znode.Name{writer}, 0))
	require.False(t, q.admittedWithout(writer, znode.Name{Kind: znode.Mutex}, []znode.Name{writer}, 0))
	require.True(t, q.admittedWithout(writer, znode.Name{Kind: znode.Reader}, []znode.Name{writer}, 0))
	require.True(t, q.admittedWithout(writer, znode.Name{Kind: znode.Reader}, []znode.Name{reader, writer}, 0))
	require.False(t, q.admittedWithout(writer, znode.Name{Kind: znode.Reader}, []znode.Name{other, writer}, 0))
	require.True(t, q.admittedWithout(reader, znode.Name{Kind: znode.Writer}, []znode.Name{reader}, 0))
	require.True(t, q.admittedWithout(other, znode.Name{Kind: znode.Writer}, []znode.Name{other}, 0))
	require.False(t, q.admittedWithout(other, znode.Name{Kind: znode.Writer}, []znode.Name{reader, other}, 0))
}
