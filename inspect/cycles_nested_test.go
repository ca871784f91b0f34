package inspect_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
)

// preparing is a lock of which each Acquire also acquires another one, for a while.
type preparing struct {
	lease.Acquirer
	other lease.Acquirer
}

func (p preparing) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	l, err := p.Acquirer.Acquire(ctx, timeout)
	if err != nil {
		return nil, err
	}
	o, err := p.other.Acquire(l.Context(), timeout)
	if err != nil {
		_ = l.Release()
		return nil, err
	}
	return l, o.Release()
}

// A multi-lock acquired within the try of another one, which gives up what it has.
func TestNoCertainCycleOfAMultiLockWithinTheTryOfAnother(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		inner, err := multilock.New([]lease.Acquirer{mutexAt(t, a, "/locks/x", "a"), mutexAt(t, a, "/locks/y", "a")})
		require.NoError(t, err)
		outer, err := multilock.New([]lease.Acquirer{mutexAt(t, a, "/locks/cart", "a"), preparing{mutexAt(t, a, "/locks/stock", "a"), inner}})
		require.NoError(t, err)
		other := w.Acquire(mutexAt(t, b, "/locks/x", "b"))
		multi := w.Start(outer, lease.Forever)
		w.Settle()
		second := within(w, other, mutexAt(t, b, "/locks/cart", "b"))
		w.Settle()
		found := linksOf(cycles(t, b, "/locks"))
		w.After(time.Minute)
		require.False(t, second.Waiting())
		require.NotContains(t, strings.Join(found, " "), "certain")
		ends(t, []*lease.Lease{other}, multi, second)
	})
}
