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
)

// queueOf returns a queue with its policy.
func queueOf(t *testing.T) (*queue.Queue, queue.Policy) {
	t.Helper()
	q := locks.Queue(nil, "/x", znode.Mutex, queue.Self(""), 0)
	policy, err := q.Rule(t.Context(), nil)
	require.NoError(t, err)
	return q, policy
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	_, policy := queueOf(t)
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
	_, policy := queueOf(t)
	var all []znode.Name
	for i, kind := range []string{znode.Writer, znode.Reader, znode.Reader, znode.Mutex, znode.Writer, znode.Reader} {
		all = append(all, znode.Name{Node: fmt.Sprint(i), Kind: kind, Sequence: int32(i)})
	}
	for i, want := range []int{-1, 0, 0, 2, 3, 4} {
		wait := policy(all[i], queue.Before(all[:i]))
		if want < 0 {
			require.Empty(t, wait)
			continue
		}
		require.Equal(t, all[want:want+1], wait)
	}
}

// A writer that became a reader has released, but the reader's node exists.
func TestEndOfAWriterAdmitsOnlyReadersWithoutALook(t *testing.T) {
	t.Parallel()
	q, _ := queueOf(t)
	for _, gone := range znode.Locks {
		for _, self := range znode.Locks {
			require.Equal(t, gone == znode.Writer && self != znode.Reader,
				q.Recheck(znode.Name{Kind: self}, znode.Name{Kind: gone}), "%s after %s", self, gone)
		}
	}
}
