package multilock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/retry"
)

// holdsOf returns what the only node at a path of a client's session says that it
// holds.
func holdsOf(t *testing.T, w *conformance.World, client, path string) []string {
	t.Helper()
	var all [][]string
	for _, node := range w.Ephemerals(path) {
		info, ok := w.Server.Node(node)
		require.True(t, ok)
		if info.EphemeralOwner == w.Known(client).Session().ID() {
			holds, _, _ := queue.ParseOwned(info.Data)
			all = append(all, holds)
		}
	}
	require.Len(t, all, 1)
	return all[0]
}

// Who waits for a lock, and would give up the others rather than wait for ever, does
// not hold these against anybody. Without a limit for its waits it does. What the
// caller held before is never given up.
func TestNodesSayWhatIsHeldForGood(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		outer := w.Acquire(newMutex(t, c, "/locks/outer"))
		blocking := w.Acquire(newMutex(t, other, stock))
		for _, limited := range []bool{true, false} {
			var opts []multilock.Option
			want := []string{outer.Path()}
			if !limited {
				opts = append(opts, multilock.WithWaitLimit(retry.None()))
			}
			at := w.StartWith(outer.Context(), both(t, c, opts...), time.Minute)
			w.Settle()
			if !limited {
				want = append(w.Ephemerals(cart), want...)
			}
			require.Equal(t, want, holdsOf(t, w, "a", stock))
			at.Cancel(nil)
			require.Error(t, at.Failed())
			w.Settle()
		}
		require.NoError(t, blocking.Release())

		held := w.StartWith(outer.Context(), both(t, c), time.Minute).Granted()
		inner := w.StartWith(held.Context(), newMutex(t, c, "/locks/inner"), time.Minute).Granted()
		require.Equal(t, append(append(w.Ephemerals(stock), w.Ephemerals(cart)...), outer.Path()), holdsOf(t, w, "a", "/locks/inner"),
			"it is all held by now")
		require.NoError(t, inner.Release())
		require.NoError(t, held.Release())
		require.NoError(t, outer.Release())
	})
}

// The same, if all are taken in one transaction.
func TestNodesOfOneTransactionSayWhatIsHeld(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(both(t, c))
		require.Empty(t, holdsOf(t, w, "a", cart))
		require.Empty(t, holdsOf(t, w, "a", stock))
		inner := w.StartWith(held.Context(), newMutex(t, c, "/locks/inner"), time.Minute).Granted()
		require.Equal(t, append(w.Ephemerals(stock), w.Ephemerals(cart)...), holdsOf(t, w, "a", "/locks/inner"))
		require.NoError(t, inner.Release())
		require.NoError(t, held.Release())
	})
}
