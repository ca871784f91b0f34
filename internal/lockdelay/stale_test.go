package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A request for one permit waits for the nearest contender ahead, and does not know
// that the one before that has released its permits. When it is admitted, one behind it
// holds permits beside it. Nobody has ended uncleanly: it does not wait for a delay.
// And when the one behind it ends uncleanly, the next one does.
func TestAContenderAheadThatIsGoneTakesNoPermits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		of := func(name string, n int) lease.Acquirer {
			s, err := semaphore.New(w.Named(name), path, 3, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay))
			require.NoError(t, err)
			return s.Weight(n)
		}
		first := w.Acquire(of("a", 2))
		second := w.Start(of("b", 3), time.Hour)
		one := w.Start(of("c", 1), time.Hour)
		behind := w.Start(of("d", 2), time.Hour)
		require.NoError(t, first.Release())
		w.After(time.Second)
		w.Server.On(zktest.OpGetChildren2, dir).Client("c").Before().Delay(300 * time.Millisecond)
		require.NoError(t, second.Granted().Release())
		holds := behind.Granted()
		w.After(time.Second)
		assert.False(t, one.Waiting(), "it waits for a delay, and nobody has ended uncleanly")
		require.NoError(t, one.Granted().Release())
		require.NoError(t, holds.Err())
		assert.Contains(t, records(w, path), contenders(w, path)[0], "a live holder has no record any more")
		kill(w, "d", w.Named("d"))
		next := w.Start(of("e", 3), time.Hour)
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay, "granted sooner than the delay after an unclean end")
	})
}
