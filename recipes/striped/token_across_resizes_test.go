package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// "two" is at stripe 0 of 2 and at stripe 2 of 3.
func TestTokensOfAKeyGrowAcrossResizes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		three := newLocks(t, a, 3)
		release(w, w.Acquire(three.For("two")))
		create := w.Server.On(zktest.OpCreate, path).Client("b").Before().Delay(time.Second)
		verify := w.Server.On(zktest.OpGetData, path).Client("b").Nth(2).Before().Delay(2 * time.Second)
		early := w.Start(newLocks(t, b, 3).For("two"), lease.Forever)
		<-create.Fired()
		two, err := three.Resize(t.Context(), 2, time.Minute)
		require.NoError(t, err)
		<-verify.Fired()
		held := w.Acquire(two.For("two"))
		release(w, held)
		_, err = two.Resize(t.Context(), 3, time.Minute)
		require.NoError(t, err)
		got := early.Granted()
		require.Greater(t, got.Token(), held.Token())
		release(w, got)
	})
}
