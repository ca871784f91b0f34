package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// threeInQueue returns a holder and the waiters behind it, of clients "a" to "c", and
// the node of the first waiter.
func threeInQueue(t *testing.T, w *conformance.World) (held *lease.Lease, first, second *conformance.Attempt, node string) {
	t.Helper()
	held = w.Acquire(newMutex(t, w.Named("a")))
	first = w.Start(newMutex(t, w.Named("b")), lease.Forever)
	second = w.Start(newMutex(t, w.Named("c")), lease.Forever)
	w.After(time.Minute) // beyond what a quorum has vouched for
	list, err := newMutex(t, w.Named("d")).Contenders(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 3)
	return held, first, second, path + "/" + list[1].Node
}

// A waiter is admitted, and a quorum still has to vouch for its session when another
// client deletes its node: it is not granted that, since the next one may hold by then.
// The transaction that the quorum vouches by is one for another grant of the session,
// so it does not find that out; nor is it awaited for so long that the node is asked
// for.
func TestNodeDeletedBeforeTheGrantIsNotGranted(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		returns := func(c *framework.Client) *mutex.Mutex {
			m, err := mutex.New(c, "/locks/returns")
			require.NoError(t, err)
			return m
		}
		elsewhere := w.Acquire(returns(a))
		ahead := w.Start(returns(b), lease.Forever)
		held, first, second, node := threeInQueue(t, w)
		w.Server.On(zktest.OpMulti, "").Client("b").Delay(8 * time.Millisecond)
		require.NoError(t, elsewhere.Release())
		w.After(2 * time.Millisecond)
		require.NoError(t, held.Release())
		w.After(2 * time.Millisecond)
		w.Remove(w.Known("a"), node)
		w.After(2 * time.Millisecond)
		require.True(t, ahead.Waiting())
		require.False(t, second.Waiting())
		next := second.Granted()
		w.After(time.Minute)
		require.NoError(t, ahead.Granted().Release())
		require.True(t, first.Waiting(), "two holders")
		require.NoError(t, next.Release())
		got := first.Granted()
		require.NotEqual(t, node, got.Path())
		require.NoError(t, got.Release())
	})
}

// The nodes of the holder and of the first waiter are deleted in one transaction: the
// events come one after the other, and the first of them does not grant.
func TestNodeDeletedWithTheOneAheadIsNotGranted(t *testing.T) {
	for range 20 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			held, first, second, node := threeInQueue(t, w)
			_, err := w.Known("d").Multi(t.Context(), framework.DeleteOp(held.Path(), framework.AnyVersion), framework.DeleteOp(node, framework.AnyVersion))
			require.NoError(t, err)
			w.Settle()
			next := second.Granted()
			require.True(t, first.Waiting() || first.Lease.Err() != nil, "two holders")
			require.NoError(t, next.Release())
		})
	}
}

// The wait limit passes while another one holds than the one that held when the wait
// began: TimeoutError names the present holder.
func TestTimeoutErrorNamesThePresentHolder(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a"), mutex.WithHolder("first")))
		second := w.Start(newMutex(t, w.Client("b"), mutex.WithHolder("second")), lease.Forever)
		third := w.Start(newMutex(t, w.Client("c")), time.Minute)
		w.After(time.Second)
		require.NoError(t, held.Release())
		got := second.Granted()
		var late *lease.TimeoutError
		require.ErrorAs(t, third.Failed(), &late)
		require.Equal(t, "second", late.Holder.Who)
		require.NoError(t, got.Release())
	})
}

// Two waiters of one session name the path differently, one of them in a namespace:
// TimeoutError names the holder all the same.
func TestTimeoutErrorNamesTheHolderBesideANamespace(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		b := w.Client("b")
		locks, err := b.Namespace("locks")
		require.NoError(t, err)
		inNamespace, err := mutex.New(locks, "/orders")
		require.NoError(t, err)
		held := w.Acquire(newMutex(t, w.Client("a"), mutex.WithHolder("first")))
		var between []*conformance.Attempt // so that b need not read the first one's node
		for _, id := range []string{"x", "y", "z"} {
			between = append(between, w.Start(newMutex(t, w.Client(id)), lease.Forever))
		}
		ahead := w.Start(inNamespace, lease.Forever)
		var late *lease.TimeoutError
		require.ErrorAs(t, w.Start(newMutex(t, b), time.Minute).Failed(), &late)
		require.Equal(t, "first", late.Holder.Who)
		require.NoError(t, held.Release())
		for _, at := range append(between, ahead) {
			require.NoError(t, at.Granted().Release())
		}
	})
}
