package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

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
