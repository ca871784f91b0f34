package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Rows about requests to step back.
var stepsBack = rows{
	"a waiter and a holder are asked to step back": waiterAndHolderAreAsked,
}

// waiterAndHolderAreAsked writes into the nodes of a holder and of a waiter what asks a
// candidate of an election to step back. No other waiter does, and no holder.
func waiterAndHolderAreAsked(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	first := w.Start(r.New(w.Client("a"), path), lease.Forever)
	behind := w.Start(r.next()(w.Client("b"), path), lease.Forever)
	w.After(time.Second)
	node := mine(w)
	ask(w, node)
	for _, l := range held {
		ask(w, l.Path())
	}
	w.After(time.Second)
	require.True(t, first.Waiting())
	for _, l := range held {
		require.NoError(t, l.Err())
	}
	order := []*Attempt{first, behind}
	if _, isCandidate := znode.Parse(strings.TrimPrefix(node, path+"/"), znode.Latch); isCandidate {
		require.NotEqual(t, node, mine(w), "it has joined again")
		order = []*Attempt{behind, first}
	} else {
		require.Equal(t, node, mine(w), "it keeps its place")
	}
	release(t, held...)
	for _, at := range order {
		release(t, at.Granted())
	}
}

// ask asks the contender with that node to step back.
func ask(w *World, node string) {
	w.T.Helper()
	info, exists := w.Server.Node(node)
	require.True(w.T, exists, node)
	marked, change := znode.MarkStepBack(info.Data)
	require.True(w.T, change)
	_, err := w.Named("operator").Set(w.T.Context(), node, marked, framework.AnyVersion)
	require.NoError(w.T, err)
}
