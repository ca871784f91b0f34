package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A request for revocation reaches those that stand behind the front as well. Several
// come to the front at once, and one may read the node of the one ahead of it, for
// which it waits, before that has looked at its own node.
func TestRequestsBehindTheFront(t *testing.T) {
	for range 10 { // goroutines decide which one reads first
		conformance.InWorld(t, requestBehindTheFront)
	}
}

func requestBehindTheFront(t *testing.T, w *conformance.World) {
	const front, all = 64, 200
	operator, crowd := w.Client("operator"), w.Client("crowd")
	queue.SetFront(crowd, front)
	blocker := w.Acquire(mutexOf(t, operator))
	waiting := make([]*conformance.Attempt, all)
	cancels := make([]context.CancelFunc, all)
	for i := range waiting {
		ctx, cancel := context.WithCancel(t.Context())
		waiting[i], cancels[i] = w.StartWith(ctx, mutexOf(t, crowd), lease.Forever), cancel
	}
	w.After(time.Second)
	for _, node := range w.Server.Children(path) {
		err := lease.RequestRevocation(t.Context(), operator, path+"/"+node)
		require.NoError(t, err)
	}
	for _, cancel := range cancels[:front] {
		cancel() // the next ones come to the front
	}
	w.After(time.Second)
	require.NoError(t, blocker.Release())
	for i, at := range waiting[front:] {
		held := at.Granted()
		w.Settle()
		require.True(t, conformance.Closed(held.RevocationRequested()), "%d", front+i)
		require.NoError(t, held.Release())
	}
}
