package semaphore_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	conformance.PolicyTrial{
		Policy: semaphore.Fitting(7),
		Next:   func(rnd *rand.Rand) znode.Name { return znode.Name{Kind: znode.Permits, Weight: 1 + rnd.IntN(7)} },
		Fits: func(admitted []znode.Name) bool {
			sum := 0
			for _, n := range admitted {
				sum += n.Weight
			}
			return sum <= 7
		},
	}.Run(t)
}

// A node that is too heavy even alone is never admitted, and waits for no other.
func TestPolicyRefusesTooHeavyNodes(t *testing.T) {
	t.Parallel()
	ahead := []znode.Name{{Node: "a", Weight: 3}}
	self := znode.Name{Node: "b", Weight: 4}
	require.Equal(t, []znode.Name{self}, semaphore.Fitting(3)(self, queue.Before(ahead)))
	require.Equal(t, []znode.Name{self}, semaphore.Fitting(3)(self, queue.Before(nil)))
	require.Equal(t, ahead, semaphore.Fitting(4)(self, queue.Before(ahead)))
	require.Empty(t, semaphore.Fitting(4)(self, queue.Before(nil)))
}

// Also where an int has 32 bits.
func TestPolicyAddsUpWithoutOverflow(t *testing.T) {
	t.Parallel()
	fitting := semaphore.Fitting(math.MaxInt32)
	ahead := []znode.Name{{Node: "a", Weight: math.MaxInt32}, {Node: "b", Weight: math.MaxInt32}, {Node: "c", Weight: 1}}
	require.ElementsMatch(t, ahead[1:], fitting(znode.Name{Node: "d", Weight: 1}, queue.Before(ahead)))
	require.Equal(t, ahead[:1], fitting(znode.Name{Node: "d", Weight: 1}, queue.Before(ahead[:1])))
	require.Empty(t, fitting(znode.Name{Node: "d", Weight: math.MaxInt32 - 1}, queue.Before(ahead[2:])))
}
