package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A PolicyTrial is what it takes to try a policy.
type PolicyTrial struct {
	// Policy is what is tried.
	Policy queue.Policy
	// Next returns a contender that may join.
	Next func(rnd *rand.Rand) znode.Name
	// Fits reports whether all of these may be admitted at once.
	Fits func(admitted []znode.Name) bool
}

// Run has contenders join and leave a line at random: those who are admitted fit
// together, whoever is admitted stays so, the first is admitted, and whoever is not
// waits for some without which it could not be.
func (p PolicyTrial) Run(t *testing.T) {
	t.Helper()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var line []znode.Name
		was := map[string]bool{}
		for number := range int32(60) {
			if len(line) > 0 && rnd.IntN(5) < 3 {
				at := rnd.IntN(len(line))
				delete(was, line[at].Node)
				line = slices.Delete(line, at, at+1)
			} else {
				n := p.Next(rnd)
				n.Node, n.Sequence = fmt.Sprint(number), number
				line = append(line, n)
			}
			p.check(t, rnd, line, was)
		}
	}
}

func (p PolicyTrial) check(t *testing.T, rnd *rand.Rand, line []znode.Name, was map[string]bool) {
	t.Helper()
	var admitted []znode.Name
	for i, self := range line {
		before := slices.Clone(line)
		wait := p.Policy(self, line[:i])
		require.Equal(t, before, line, "it changes nothing")
		require.Equal(t, wait, p.Policy(self, slices.Clone(line[:i])), "it is a function")
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
			require.Contains(t, line[:i], other)
		}
		// Whatever leaves but one of those, it is not admitted.
		left := slices.DeleteFunc(slices.Clone(line[:i]), func(n znode.Name) bool { return !slices.Contains(wait, n) && rnd.IntN(2) == 0 })
		require.NotEmpty(t, p.Policy(self, left), "a wake-up would be missed: %v waits for %v in %v", self, wait, line[:i])
		left = slices.DeleteFunc(left, func(n znode.Name) bool { return !slices.Contains(wait, n) })
		require.NotEmpty(t, p.Policy(self, left))
	}
	require.True(t, p.Fits(admitted), "%v", admitted)
}
