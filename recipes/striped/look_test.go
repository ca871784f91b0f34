package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A call finds another share free, and another client is faster there. It leaves that,
// and goes on waiting where it was. What it is granted there is re-entered there.
func TestAnotherClientIsFasterAtTheFreeShare(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		holder := anyStripe(newLocks(t, w.Client("holder"), 2))
		a := anyStripe(newLocks(t, w.Client("a"), 2))
		held := []*lease.Lease{w.Acquire(holder), w.Acquire(holder)}
		at := w.Start(a, lease.Forever)
		i := waitsAt(w, holder, held)
		stays, goes := held[i], held[1-i]
		elsewhere := a.Path(holder.share(goes))

		slow := w.Server.On(zktest.OpCreate, elsewhere).Client("a").Before().Delay(100 * time.Millisecond)
		release(w, goes)
		<-slow.Fired()
		faster := w.Acquire(newMutex(t, w.Client("b"), goes))
		w.After(time.Second)
		require.True(t, at.Waiting())
		require.Equal(t, faster.Path()[len(elsewhere)+1:], w.Server.Children(elsewhere)[0])
		require.Len(t, w.Server.Children(elsewhere), 1, "it has left")

		release(w, stays)
		got := at.Granted()
		require.Equal(t, holder.share(stays), a.share(got))
		again := w.StartWith(got.Context(), a.For([]string{"one", moved}[a.share(got)]), 0).Granted()
		require.Equal(t, got.Token(), again.Token())
		release(w, again, got, faster)
		leavesNothing(w)
	})
}
