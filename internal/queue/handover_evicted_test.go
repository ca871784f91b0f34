package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A waiter's node is deleted before the waiter has a watch on it, and the holder before
// it, of the same session, releases: the slot is handed over to nobody, as the own
// watch has to be set first.
func TestNothingIsHandedOverToADeletedNode(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		m := mutexOf(t, a)
		held, err := m.Acquire(t.Context(), lease.Forever)
		require.NoError(t, err)
		w.Settle() // it has no watch yet, whose event would come before the answer to the delete
		w.Server.On(zktest.OpGetChildren2, path).Client("a").After().Delay(20 * time.Millisecond)
		granted := make(chan *lease.Lease, 1)
		go func() {
			next, err := m.Acquire(t.Context(), lease.Forever)
			if err != nil {
				t.Error(err)
			}
			granted <- next
		}()
		w.After(5 * time.Millisecond)
		nodes := w.Server.Children(path)
		require.Len(t, nodes, 2)
		for _, node := range nodes {
			if path+"/"+node != held.Path() {
				w.Remove(operator, path+"/"+node)
			}
		}
		answer := w.Server.On(zktest.OpDelete, path).Client("a").After().Delay(50 * time.Millisecond)
		go func() { _ = held.Release() }()
		next := <-granted
		<-answer.Fired()
		_, stands := w.Server.Node(next.Path())
		require.True(t, stands, "it was granted a node that does not exist")
		require.NoError(t, next.Err())
		require.NoError(t, next.Release())
	})
}
