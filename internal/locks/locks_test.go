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

// The holders are those that the policy admits, which are the first ones.
func TestHoldersAreThoseThatThePolicyAdmits(t *testing.T) {
	t.Parallel()
	_, policy := queueOf(t)
	kinds := []string{znode.Reader, znode.Reader, znode.Writer, znode.Mutex}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var all []znode.Name
		for i := range rnd.IntN(6) {
			name := znode.Name{Node: fmt.Sprint(i), Kind: kinds[rnd.IntN(len(kinds))], Sequence: int32(i)}
			if i > 0 && rnd.IntN(3) == 0 {
				name.Sequence = all[i-1].Sequence
			}
			all = append(all, name)
		}
		slices.SortFunc(all, znode.Compare)
		want := 0
		for want < len(all) {
			ahead := slices.DeleteFunc(slices.Clone(all[:want]), all[want].SharesPosition)
			if len(policy(all[want], queue.Before(ahead))) > 0 {
				break
			}
			want++
		}
		require.Equal(t, want, locks.Holding(all), "%v", all)
	}
}
