package semaphore_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// missed is the time within which a change that no event tells is found.
const missed = conformance.SessionTimeout*5/4 + time.Second

// hidden runs f while no client may read a node, so that no event tells what f does
// there.
func hidden(t *testing.T, c *framework.Client, node string, f func()) {
	t.Helper()
	_, err := c.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll&^framework.PermRead), framework.AnyVersion)
	require.NoError(t, err)
	f()
	_, err = c.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll), framework.AnyVersion)
	if err != nil {
		require.ErrorIs(t, err, framework.ErrNoNode)
	}
}

func TestMissedResize(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		operator := w.Client("operator")
		s := make(w.Client("a"), 2)
		held := []*lease.Lease{w.Acquire(s), w.Acquire(s)}
		at := ask(w, make(w.Client("b"), 2), 1)
		w.After(time.Second)
		hidden(t, operator, path, func() {
			_, err := operator.Set(t.Context(), path, binary.BigEndian.AppendUint32(nil, 3), framework.AnyVersion)
			require.NoError(t, err)
		})
		w.Settle()
		require.True(t, at.Waiting())
		began := time.Now()
		got := at.Granted()
		require.Less(t, time.Since(began), missed)
		release(w, append(held, got)...)
	})
}

// The head of the queue that finds its position deleted joins again without another
// request; meanwhile it deletes the old position, as always when one is left.
func TestMissedDeletionOfTheHead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator := w.Client("operator")
		held := w.Acquire(newSemaphore(t, w.Client("a"), 1))
		at := ask(w, newSemaphore(t, w.Client("b"), 1), 1)
		w.After(time.Second)
		position := waiting(w)[0]
		hidden(t, operator, path+"/locks", func() {
			hidden(t, operator, position, func() { w.Remove(operator, position) })
		})
		var asked []zktest.Op
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "b" && c.Phase == zktest.PhaseBeforeApply && strings.HasPrefix(c.Path, path) && c.Op != zktest.OpDelete {
				asked = append(asked, c.Op)
			}
			return zktest.Pass
		})
		w.After(missed)
		require.Len(t, waiting(w), 1)
		require.Equal(t, []zktest.Op{zktest.OpExists, zktest.OpCreate}, asked[:2])
		w.Server.SetFaults(nil)
		release(w, held)
		release(w, at.Granted())
	})
}

// A client that waits for many nodes looks again at one after the other.
func TestMissedDeletionOfOneOfMany(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const size = 7
		operator := w.Client("operator")
		s := newSemaphore(t, w.Client("a"), size, semaphore.WithSingleQueue())
		var held []*lease.Lease
		for range size {
			held = append(held, w.Acquire(s))
		}
		at := ask(w, newSemaphore(t, w.Client("b"), size, semaphore.WithSingleQueue()), 1)
		w.After(time.Second)
		hidden(t, operator, held[size-1].Path(), func() {
			hidden(t, operator, path, func() { w.Remove(operator, held[size-1].Path()) })
		})
		began := time.Now()
		got := at.Granted()
		require.Less(t, time.Since(began), 4*missed)
		require.ErrorIs(t, held[size-1].Release(), lease.ErrLost)
		release(w, append(held[:size-1], got)...)
	})
}
