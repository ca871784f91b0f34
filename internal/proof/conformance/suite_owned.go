package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// Rows about what the node of a contender says that it holds elsewhere.
var owned = rows{
	"a contender's node says what it holds":             nodeSaysWhatItHolds,
	"a contender's node says nothing of ended leases":   nodeSaysNothingOfEndedLeases,
	"a contender's node says of what job it is a part":  nodeSaysOfWhatJob,
	"re-entered leases are named once, innermost first": leasesAreNamedOnce,
}

// outer acquires another lock, and returns its lease and the full path of its node.
func (w *World) outer(ctx context.Context, c *framework.Client, name string) (*lease.Lease, string) {
	w.T.Helper()
	ns, err := c.Namespace("conformance")
	require.NoError(w.T, err)
	lock, err := mutex.New(ns, "/outer-"+name)
	require.NoError(w.T, err)
	held := w.StartWith(ctx, lock, time.Minute).Granted()
	return held, "/conformance" + held.Path()
}

// claims returns what the nodes below the recipe's path say that a client holds
// elsewhere. It fails unless all of them say the same, and also whether they may leave,
// as those who wait for any share. said is false in an election: the data is the id.
func (w *World) claims(r Recipe, c *framework.Client) (holds []string, within []int64, said bool) {
	w.T.Helper()
	first := true
	for _, node := range w.Ephemerals(path) {
		info, ok := w.Server.Node(node)
		require.True(w.T, ok)
		if info.EphemeralOwner != c.Session().ID() {
			continue
		}
		if _, latch := znode.Parse(node[strings.LastIndex(node, "/")+1:], znode.Latch); latch {
			return nil, nil, false
		}
		h, in, givesUp := queue.ParseOwned(info.Data)
		if r.Locks <= 1 { // else it depends on what it has already
			require.Equal(w.T, r.Spread, givesUp)
		}
		if !first {
			require.Equal(w.T, holds, h)
			require.Equal(w.T, within, in)
		}
		holds, within, first = h, in, false
	}
	require.False(w.T, first, "it has no node")
	return holds, within, true
}

func nodeSaysWhatItHolds(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	first, one := w.outer(t.Context(), c, "one")
	second, two := w.outer(first.Context(), c, "two")
	want := []string{two, one}

	held := w.StartWith(second.Context(), r.New(c, path), time.Minute).Granted() // at once
	holds, within, said := w.claims(r, c)
	if !said {
		release(t, held, second, first)
		return
	}
	require.Equal(t, want, holds)
	require.Empty(t, within)
	release(t, held)

	others := fill(w, r)
	waits := w.StartWith(second.Context(), r.New(c, path), time.Minute)
	require.True(t, waits.Waiting())
	holds, _, _ = w.claims(r, c)
	require.Equal(t, want, holds)
	release(t, others...)
	release(t, waits.Granted())

	free := w.StartWith(lease.WithoutOwner(second.Context()), r.New(c, path), time.Minute).Granted()
	holds, _, _ = w.claims(r, c)
	require.Empty(t, holds, "that is another owner")
	release(t, free)
	fork := w.StartWith(lease.Fork(second.Context()), r.New(c, path), time.Minute).Granted()
	holds, _, _ = w.claims(r, c)
	require.Equal(t, want, holds, "the owner above waits for its forks")
	release(t, fork, second, first)
}

func nodeSaysNothingOfEndedLeases(t *testing.T, w *World, r Recipe) {
	c, other := w.Client("a"), w.Client("other")
	first, one := w.outer(t.Context(), c, "one")
	second, _ := w.outer(first.Context(), c, "two")
	ctx := context.WithoutCancel(second.Context())
	release(t, second)
	held := w.StartWith(ctx, r.New(c, path), time.Minute).Granted()
	if holds, _, said := w.claims(r, c); said {
		require.Equal(t, []string{one}, holds)
	}
	release(t, held)

	w.Expire(c)
	<-first.Context().Done()
	held = w.StartWith(ctx, r.New(other, path), time.Minute).Granted()
	if holds, _, said := w.claims(r, other); said {
		require.Empty(t, holds)
	}
	release(t, held)
	require.ErrorIs(t, first.Release(), lease.ErrLost)
}

func nodeSaysOfWhatJob(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	sessions := []int64{0x1000a, -2} // servers with a number above 127 give negative ones
	first, one := w.outer(t.Context(), c, "one")
	held := w.StartWith(queue.Within(first.Context(), sessions), r.New(c, path), time.Minute).Granted()
	if holds, within, said := w.claims(r, c); said {
		require.Equal(t, sessions, within)
		require.Equal(t, []string{one}, holds)
	}
	release(t, held, first)
}

func leasesAreNamedOnce(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	first, one := w.outer(t.Context(), c, "one")
	second, two := w.outer(first.Context(), c, "two")
	again, _ := w.outer(second.Context(), c, "one")
	require.Equal(t, first.Token(), again.Token())
	held := w.StartWith(again.Context(), r.New(c, path), time.Minute).Granted()
	if holds, _, said := w.claims(r, c); said {
		require.Equal(t, []string{one, two}, holds, "the innermost entry of each counts")
	}
	release(t, held, again, second)
	require.NoError(t, first.Err())
	release(t, first)
}
