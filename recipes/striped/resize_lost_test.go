package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Another client deletes the node of one of the stripes before the number changes: then
// the stripe is lost, and the number stays.
func TestNodeIsDeletedBeforeTheNumberChanges(t *testing.T) {
	for _, stripe := range []string{"/stripe-0000", "/stripe-0001"} {
		t.Run(stripe, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				l, operator := newLocks(t, w.Client("a"), 2), w.Client("operator")
				release(w, w.Acquire(l.For(moved)))
				slow := w.Server.On(zktest.OpMulti, path).Client("a").Before().Delay(time.Second)
				done := make(chan error)
				go func() {
					_, err := l.Resize(t.Context(), 3, time.Minute)
					done <- err
				}()
				<-slow.Fired()
				w.Remove(operator, w.Ephemerals(path + stripe)[0])
				require.ErrorIs(t, <-done, lease.ErrLost)
				require.Equal(t, "2 stripes", stored(w))
				release(w, w.Acquire(l.For(moved)))
			})
		})
	}
}
