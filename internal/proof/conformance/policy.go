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

// A PolicyTrial tries a policy on random queues.
type PolicyTrial struct {
	// Policy is the policy under test.
	Policy queue.Policy
	// Next returns a contender that may join.
	Next func(rnd *rand.Rand) znode.Name
	// Fits reports whether all of these may be admitted at once.
	Fits func(admitted []znode.Name) bool
}

// Run has contenders join and leave a queue at random. It checks that the admitted fit
// together, that an admitted contender stays admitted, that the head is admitted, and
// that each other contender waits for nodes that have to go before it can be admitted.
func (p PolicyTrial) Run(t *testing.T) {
	t.Helper()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var queued []znode.Name
		was := map[string]bool{}
		for number := range int32(60) {
			if len(queued) > 0 && rnd.IntN(5) < 3 {
				at := rnd.IntN(len(queued))
				delete(was, queued[at].Node)
				queued = slices.Delete(queued, at, at+1)
			} else {
				n := p.Next(rnd)
				n.Node, n.Sequence = fmt.Sprint(number), number
				queued = append(queued, n)
			}
			p.check(t, rnd, queued, was)
		}
	}
}

func (p PolicyTrial) check(t *testing.T, rnd *rand.Rand, queued []znode.Name, was map[string]bool) {
	t.Helper()
	var admitted []znode.Name
	for i, self := range queued {
		before := slices.Clone(queued)
		wait := p.Policy(self, queue.Before(queued[:i]))
		require.Equal(t, before, queued, "it changes nothing")
		require.Equal(t, wait, p.Policy(self, queue.Before(slices.Clone(queued[:i]))), "it is a function")
		if i == 0 {
			require.Empty(t, wait, "the head is admitted")
		}
		if len(wait) == 0 {
			admitted = append(admitted, self)
			was[self.Node] = true
			continue
		}
		require.False(t, was[self.Node], "an admitted contender stays admitted")
		for _, other := range wait {
			require.Contains(t, queued[:i], other)
		}
		// It is not admitted while the nodes that it waits for stand, whichever others
		// go.
		left := slices.DeleteFunc(slices.Clone(queued[:i]), func(n znode.Name) bool { return !slices.Contains(wait, n) && rnd.IntN(2) == 0 })
		require.NotEmpty(t, p.Policy(self, queue.Before(left)), "a wake-up would be missed: %v waits for %v in %v", self, wait, queued[:i])
		left = slices.DeleteFunc(left, func(n znode.Name) bool { return !slices.Contains(wait, n) })
		require.NotEmpty(t, p.Policy(self, queue.Before(left)))
	}
	require.True(t, p.Fits(admitted), "%v", admitted)
}
