package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// Another client deletes the znode of a hold before that has a watch on it. The session
// has room for another one then.
func TestNodeThatIsDeletedBeforeItIsWatchedTakesNoRoom(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(c *framework.Config) { c.MaxEphemeralBytes, c.Sessions = 120, 1 })
		m := must(mutex.New(a, "/m"))
		for range 3 {
			held := w.Acquire(m)
			w.Remove(w.Named("operator"), held.Path())
			w.After(2 * hold.LookDelay)
			require.ErrorIs(t, held.Release(), lease.ErrDeleted)
		}
	})
}
