package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The holder before it, of the same session, releases before the listing of a waiter is
// answered. So the waiter needs no watch on its own node. If that was deleted, the look
// of its hold finds it 10 ms after the create.
func TestHandedOverJustAfterItJoined(t *testing.T) {
	for name, deleted := range map[string]bool{"its node stands": false, "its node is deleted": true} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, operator := w.Client("a"), w.Client("operator")
				m := mutexOf(t, a)
				held, err := m.Acquire(t.Context(), lease.Forever)
				require.NoError(t, err)
				w.Server.ResetCounts()
				w.Server.On(zktest.OpGetChildren2, path).Client("a").After().Delay(6 * time.Millisecond)
				granted := make(chan *lease.Lease, 1)
				begin := time.Now()
				go func() {
					next, err := m.Acquire(t.Context(), lease.Forever)
					assert.NoError(t, err)
					granted <- next
				}()
				w.After(3 * time.Millisecond)
				if nodes := w.Ephemerals(path); deleted {
					w.Remove(operator, without(nodes, held.Path()))
				}
				w.Server.On(zktest.OpDelete, held.Path()).Client("a").After().Delay(5 * time.Millisecond)
				go func() { _ = held.Release() }()
				next := <-granted
				assert.Equal(t, 6*time.Millisecond, time.Since(begin), "when it is listed")
				assert.Zero(t, w.Server.Count(zktest.OpGetData))
				if !deleted {
					w.After(time.Second)
					assert.Equal(t, 1, w.Server.Count(zktest.OpGetData), "its hold looks")
					require.NoError(t, next.Release())
					return
				}
				<-next.Context().Done()
				require.ErrorIs(t, next.Err(), lease.ErrDeleted)
				assert.Equal(t, 10*time.Millisecond, time.Since(begin))
			})
		})
	}
}

// without returns the one of two nodes that is not this one.
func without(nodes []string, this string) string {
	for _, node := range nodes {
		if node != this {
			return node
		}
	}
	return ""
}

// A waiter behind a holder of its session reads nothing until its node is 10 ms old.
// Then it finds out whether that was deleted.
func TestWaiterThatHasJustJoinedRests(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		m := mutexOf(t, a)
		held, err := m.Acquire(t.Context(), lease.Forever)
		require.NoError(t, err)
		w.After(time.Second)
		w.Server.ResetCounts()
		granted := make(chan *lease.Lease, 1)
		go func() {
			next, err := m.Acquire(t.Context(), lease.Forever)
			assert.NoError(t, err)
			granted <- next
		}()
		w.After(9 * time.Millisecond)
		assert.Equal(t, map[zktest.Op]int{zktest.OpCreate: 1, zktest.OpGetChildren2: 1}, w.Server.Counts())
		own := without(w.Ephemerals(path), held.Path())
		w.Remove(operator, own)
		w.After(time.Millisecond)
		assert.Equal(t, 2, w.Server.Count(zktest.OpCreate), "it has joined again")
		assert.NotEqual(t, own, without(w.Ephemerals(path), held.Path()))
		require.NoError(t, held.Release())
		require.NoError(t, (<-granted).Release())
	})
}
