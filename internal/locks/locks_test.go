package locks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// line is that under a path, with its policy.
func line(t *testing.T) (*queue.Queue, queue.Policy) {
	t.Helper()
	line := locks.Queue(nil, "/x", znode.Mutex, lease.Holder{})
	policy, err := line.Rule(t.Context(), nil)
	require.NoError(t, err)
	return line, policy
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	_, policy := line(t)
	conformance.PolicyTrial{
		Policy: policy,
		Next: func(rnd *rand.Rand) znode.Name {
			return znode.Name{Kind: []string{znode.Reader, znode.Reader, znode.Reader, znode.Writer, znode.Mutex}[rnd.IntN(5)]}
		},
		Fits: func(admitted []znode.Name) bool {
			writers := slices.ContainsFunc(admitted, func(n znode.Name) bool { return n.Kind != znode.Reader })
			return !writers || len(admitted) == 1
		},
	}.Run(t)
}

// One release wakes one waiter, or the readers that it admits.
func TestPolicyWaitsForTheNearestThatConflicts(t *testing.T) {
	t.Parallel()
	_, policy := line(t)
	var all []znode.Name
	for i, kind := range []string{znode.Writer, znode.Reader, znode.Reader, znode.Mutex, znode.Writer, znode.Reader} {
		all = append(all, znode.Name{Node: fmt.Sprint(i), Kind: kind, Sequence: int32(i)})
	}
	for i, want := range []int{-1, 0, 0, 2, 3, 4} {
		wait := policy(all[i], all[:i])
		if want < 0 {
			require.Empty(t, wait)
			continue
		}
		require.Equal(t, all[want:want+1], wait)
	}
}

// A writer whose place was taken over by a reader has gone, but that reader stands.
func TestEndOfAWriterAdmitsOnlyReadersWithoutALook(t *testing.T) {
	t.Parallel()
	line, _ := line(t)
	for _, gone := range znode.Locks {
		for _, self := range znode.Locks {
			require.Equal(t, gone == znode.Writer && self != znode.Reader,
				line.Recheck(znode.Name{Kind: self}, znode.Name{Kind: gone}), "%s after %s", self, gone)
		}
	}
}
