package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two holders come at the same time, and the one that is behind is recorded first. The
// other one sees that record, and not its node, which is behind. That is no end: when
// that holder does end later, the next one waits for the delay.
func TestALiveHolderBehindIsNotTakenForEnded(t *testing.T) {
	readers := func(t *testing.T, c *framework.Client) lease.Acquirer { return shared(t, c).Read() }
	permits := func(n int) func(t *testing.T, c *framework.Client) lease.Acquirer {
		return func(t *testing.T, c *framework.Client) lease.Acquirer {
			s, err := semaphore.New(c, path, 2, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay))
			require.NoError(t, err)
			return s.Weight(n)
		}
	}
	for name, of := range map[string]struct {
		one, all func(t *testing.T, c *framework.Client) lease.Acquirer
	}{
		"readers": {readers, func(t *testing.T, c *framework.Client) lease.Acquirer { return shared(t, c).Write() }},
		"permits": {permits(1), permits(2)},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				require.NoError(t, w.Acquire(of.one(t, b)).Release())
				w.Server.On(zktest.OpGetChildren2, dir).Client("a").Before().Delay(time.Second)
				first := w.Start(of.one(t, a), time.Minute)
				second := w.Acquire(of.one(t, b))
				held := first.Granted()
				require.NoError(t, second.Err())
				w.After(4 * delay)
				require.NoError(t, second.Err())
				require.NoError(t, held.Release())
				kill(w, "b", b)
				next := w.Start(of.all(t, w.Client("next")), time.Hour)
				require.True(t, next.Waiting(), "the slot is granted sooner than the delay after an unclean end")
				next.Granted()
				require.GreaterOrEqual(t, next.Took, delay)
			})
		})
	}
}
