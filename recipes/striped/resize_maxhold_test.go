package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// Resize waits for all holders within its timeout, also if leases have a maximum hold
// time: it has none on what it holds meanwhile.
func TestResizeWithAMaximumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		brief := newLocks(t, a, 2, striped.WithMaxHold(time.Second))
		theirs := newLocks(t, b, 2)
		held := w.Acquire(theirs.For(keyAt(t, theirs, 1, theirs, 1)))
		changing := resize(t, brief, 3)
		w.After(2 * time.Second)
		require.NoError(t, held.Release())
		<-changing.done
		require.NoError(t, changing.err)
	})
}
