package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Who is asked to give way in line learns of it with the permit, although that is
// another node.
func TestRevokedWhileWaiting(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 1), make(w.Client("b"), 1)
		held := w.Acquire(a)
		at := ask(w, b, 1)
		w.After(time.Second)
		list, err := b.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.NoError(t, lease.Revoke(t.Context(), w.Client("operator"), list[1].Path))
		w.After(time.Second)
		release(w, held)
		got := at.Granted()
		w.After(time.Second)
		select {
		case <-got.Revoked():
		default:
			require.Fail(t, "it was not told")
		}
		release(w, got)
	})
}

// The answer to a request for three permits is lost, and before they are found again
// somebody deletes one: that is no lease on three.
func TestPermitIsDeletedBeforeItIsFoundAgain(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 3), newSemaphore(t, w.Client("b"), 3)
		operator := w.Client("operator")
		warm(w, a)
		w.Server.On(zktest.OpMulti, path).Client("a").After().Cut()
		slow := w.Server.On(zktest.OpSync, path).Client("a").Before().Delay(time.Second)
		at := ask(w, a, 3)
		<-slow.Fired()
		w.Remove(operator, inside(w)[1])
		w.After(time.Minute)
		got := at.Granted()
		require.NoError(t, got.Confirm(t.Context()))
		require.Len(t, inside(w), 3)
		other := ask(w, b, 1)
		w.After(time.Minute)
		require.True(t, other.Waiting())
		release(w, got)
		release(w, other.Granted())
	})
}
