package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows that change or delete each node of a lease in turn: a lease of several nodes
// needs all of them.

var nodes = rows{
	"a node of a holder changes and is deleted":           nodeChanges,
	"a node of a holder is deleted before a confirmation": nodeIsDeletedBeforeConfirm,
	"a node of a holder may not be watched":               nodeMayNotBeWatched,
	"revocation is requested at any node of a holder":     revocationAtAnyNode,
	"revocation of a waiter is requested":                 revocationOfAWaiter,
	"a token below a long path":                           tokenBelowALongPath,
}

// eachNode takes a lease and harms one of its nodes, for each node. The lease must be
// lost, and no node may stay.
func eachNode(t *testing.T, w *World, r Recipe, harm func(operator *framework.Client, held *lease.Lease, node string)) {
	t.Helper()
	a, operator := r.New(w.Client("a"), path), w.Client("operator")
	for i := range r.count() {
		held := w.Acquire(a)
		nodes := w.Ephemerals(path)
		require.Len(t, nodes, r.count())
		harm(operator, held, nodes[i])
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"), "a release removes the rest")
	}
}

// nodeChanges has another client write into a node. The lease is not lost by that, and
// its watch goes on.
func nodeChanges(t *testing.T, w *World, r Recipe) {
	eachNode(t, w, r, func(operator *framework.Client, held *lease.Lease, node string) {
		for range 3 {
			w.After(time.Second)
			_, err := operator.Set(t.Context(), node, []byte("x"), framework.AnyVersion)
			require.NoError(t, err)
		}
		w.After(time.Second)
		require.NoError(t, held.Err())
		w.Remove(operator, node)
		w.After(100 * time.Millisecond)
		require.ErrorIs(t, held.Err(), lease.ErrDeleted)
		require.Len(t, w.Ephemerals(path), r.count()-1, "the former holder has a moment to stop")
		w.After(SessionTimeout)
		require.Empty(t, w.Ephemerals(path), "then the rest is removed, without a release")
	})
}

func nodeIsDeletedBeforeConfirm(t *testing.T, w *World, r Recipe) {
	eachNode(t, w, r, func(operator *framework.Client, held *lease.Lease, node string) {
		w.Remove(operator, node)
		require.NoError(t, held.Err(), "the node was not looked at yet")
		require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrDeleted)
		require.ErrorIs(t, held.Err(), lease.ErrDeleted)
	})
}

// nodeMayNotBeWatched withdraws the permission to read a node before the holder's first
// look at it: no event would tell the holder of the node's end.
func nodeMayNotBeWatched(t *testing.T, w *World, r Recipe) {
	eachNode(t, w, r, func(operator *framework.Client, held *lease.Lease, node string) {
		_, err := operator.SetACL(t.Context(), node, framework.WorldACL(framework.PermDelete), framework.AnyVersion)
		require.NoError(t, err)
		w.After(50 * time.Millisecond)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.ErrorIs(t, held.Err(), framework.ErrNoAuth)
	})
}

// revocationAtAnyNode requests the revocation of a lease at each of its nodes.
func revocationAtAnyNode(t *testing.T, w *World, r Recipe) {
	eachNode(t, w, r, func(operator *framework.Client, held *lease.Lease, node string) {
		w.After(time.Second)
		require.False(t, Closed(held.RevocationRequested()))
		require.NoError(t, lease.RequestRevocation(t.Context(), operator, node))
		w.After(100 * time.Millisecond)
		require.True(t, Closed(held.RevocationRequested()))
		require.NoError(t, held.Err())
		w.Remove(operator, node)
		w.Settle()
	})
}

// revocationOfAWaiter requests the revocation of a waiter in the middle of the queue.
// It is granted later, perhaps on another node, and then sees the request; those before
// and behind it see none.
func revocationOfAWaiter(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	before := w.Start(r.New(w.Client("before"), path), lease.Forever)
	requested := w.Start(r.New(w.Client("a"), path), lease.Forever)
	behind := w.Start(r.New(w.Client("behind"), path), lease.Forever)
	w.After(time.Second)
	nodes := nodesOf(w, "a")
	require.Len(t, nodes, 1)
	require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), nodes[0]))
	w.After(time.Second)
	for _, l := range held {
		require.NoError(t, l.Release())
	}
	for _, at := range []*Attempt{before, requested, behind} {
		got := at.Granted()
		w.After(50 * time.Millisecond)
		require.Equal(t, at == requested, Closed(got.RevocationRequested()))
		release(t, got)
	}
}

// nodesOf returns the nodes of a client's session.
func nodesOf(w *World, client string) (nodes []string) {
	for _, s := range w.Server.Sessions() {
		if s.Client == client {
			nodes = append(nodes, s.Ephemeral...)
		}
	}
	return nodes
}

// tokenBelowALongPath uses so long a path that the answers to creates are large: the
// token is still read from them, without a further request.
func tokenBelowALongPath(t *testing.T, w *World, r Recipe) {
	path := "/" + strings.Repeat("x", 100<<10)
	c := w.Client("a", func(cfg *framework.Config) { cfg.MaxRequestBytes, cfg.MaxReplyBytes = 512<<10, 512<<10 })
	a := r.New(c, path)
	release(t, w.Acquire(a))
	w.Server.ResetCounts()
	held := w.Acquire(a)
	info, ok := w.Server.Node(held.Path())
	require.True(t, ok)
	require.EqualValues(t, info.Czxid, held.Token())
	require.Zero(t, w.Server.CountOf("a", zktest.OpExists))
	w.After(time.Second)
	require.NoError(t, held.Err())
	release(t, held)
}
