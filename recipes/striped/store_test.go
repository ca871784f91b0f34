package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two clients find no number, and one of them stores its own when the other has done
// so: before it looks again, or before its own write arrives. It is refused.
func TestNumberIsStoredOnce(t *testing.T) {
	for name, slow := range map[string]func(s *zktest.Server) *zktest.Rule{
		"before the write": func(s *zktest.Server) *zktest.Rule { return s.On(zktest.OpSetData, path) },
		"before the look":  func(s *zktest.Server) *zktest.Rule { return s.On(zktest.OpGetData, path).Nth(3) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := newLocks(t, w.Client("a"), 2), newLocks(t, w.Client("b"), 3)
				require.NotEqual(t, a.Index(moved), b.Index(moved))
				late := slow(w.Server).Client("b").Before().Delay(500 * time.Millisecond)
				at := w.Start(b.For(moved), lease.Forever)
				<-late.Fired()
				held := w.Acquire(a.For(moved))
				require.ErrorIs(t, at.Failed(), striped.ErrSizeMismatch)
				require.Equal(t, "2 stripes", stored(w))
				release(w, held)
			})
		})
	}
}
