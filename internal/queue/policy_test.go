package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A kind of line that is tried.
type line struct {
	policy Policy
	size   int
	next   func(rnd *rand.Rand) Name // a contender that may join
	// fits reports whether all of these may be admitted at once.
	fits func(admitted []Name) bool
}

func lines() map[string]line {
	weigh := func(names []Name) (sum int) {
		for _, n := range names {
			sum += n.Weight
		}
		return sum
	}
	return map[string]line{
		"mutex": {
			policy: InLine,
			next:   func(*rand.Rand) Name { return Name{Kind: MutexName} },
			fits:   func(admitted []Name) bool { return len(admitted) <= 1 },
		},
		"readers, writers and others": {
			policy: InLine,
			next: func(rnd *rand.Rand) Name {
				return Name{Kind: []string{ReadName, ReadName, ReadName, WriteName, MutexName}[rnd.IntN(5)]}
			},
			fits: func(admitted []Name) bool {
				writers := slices.ContainsFunc(admitted, func(n Name) bool { return n.Kind != ReadName })
				return !writers || len(admitted) == 1
			},
		},
		"permits": {
			policy: Permits, size: 7,
			next: func(rnd *rand.Rand) Name { return Name{Kind: PermitsName, Weight: 1 + rnd.IntN(7)} },
			fits: func(admitted []Name) bool { return weigh(admitted) <= 7 },
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
				var queue []Name
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

func (l line) check(t *testing.T, rnd *rand.Rand, queue []Name, was map[string]bool) {
	t.Helper()
	var admitted []Name
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
		left := slices.DeleteFunc(slices.Clone(queue[:i]), func(n Name) bool { return !slices.Contains(wait, n) && rnd.IntN(2) == 0 })
		require.NotEmpty(t, l.policy(self, left, l.size), "a wake-up would be missed: %v waits for %v in %v", self, wait, queue[:i])
		left = slices.DeleteFunc(left, func(n Name) bool { return !slices.Contains(wait, n) })
		require.NotEmpty(t, l.policy(self, left, l.size))
	}
	require.True(t, l.fits(admitted), "%v", admitted)
}

// One release wakes one waiter, or the readers that it admits.
func TestInLineWaitsForTheNearestThatConflicts(t *testing.T) {
	t.Parallel()
	var queue []Name
	for i, kind := range []string{WriteName, ReadName, ReadName, MutexName, WriteName, ReadName} {
		queue = append(queue, Name{Node: fmt.Sprint(i), Kind: kind, Sequence: int32(i)})
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
	ahead := []Name{{Node: "a", Weight: 3}}
	self := Name{Node: "b", Weight: 4}
	require.Equal(t, []Name{self}, Permits(self, ahead, 3))
	require.Equal(t, []Name{self}, Permits(self, nil, 3))
	require.Equal(t, ahead, Permits(self, ahead, 4))
	require.Empty(t, Permits(self, nil, 4))
}

// However heavy they are, and also where an int has 32 bits.
func TestPermitsAddsUpWithoutOverflow(t *testing.T) {
	t.Parallel()
	ahead := []Name{{Node: "a", Weight: math.MaxInt32}, {Node: "b", Weight: math.MaxInt32}, {Node: "c", Weight: 1}}
	require.Equal(t, ahead[1:], Permits(Name{Node: "d", Weight: 1}, ahead, math.MaxInt32))
	require.Equal(t, ahead[:1], Permits(Name{Node: "d", Weight: 1}, ahead[:1], math.MaxInt32))
	require.Empty(t, Permits(Name{Node: "d", Weight: math.MaxInt32 - 1}, ahead[2:], math.MaxInt32))
}

// A writer whose place was taken over by a reader has gone, but that reader stands.
func TestEndOfAWriterAdmitsOnlyReadersWithoutALook(t *testing.T) {
	t.Parallel()
	q := &Queue{cfg: Config{Policy: InLine}}
	writer, reader, other := Name{Node: "w", Kind: WriteName}, Name{Node: "r", Kind: ReadName}, Name{Node: "m", Kind: MutexName}
	require.False(t, q.admittedWithout(writer, Name{Kind: WriteName}, []Name{writer}, 0))
	require.False(t, q.admittedWithout(writer, Name{Kind: MutexName}, []Name{writer}, 0))
	require.True(t, q.admittedWithout(writer, Name{Kind: ReadName}, []Name{writer}, 0))
	require.True(t, q.admittedWithout(writer, Name{Kind: ReadName}, []Name{reader, writer}, 0))
	require.False(t, q.admittedWithout(writer, Name{Kind: ReadName}, []Name{other, writer}, 0))
	require.True(t, q.admittedWithout(reader, Name{Kind: WriteName}, []Name{reader}, 0))
	require.True(t, q.admittedWithout(other, Name{Kind: WriteName}, []Name{other}, 0))
	require.False(t, q.admittedWithout(other, Name{Kind: WriteName}, []Name{reader, other}, 0))
}
