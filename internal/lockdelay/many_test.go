package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// A process that had many slots is killed. Those who never wait get all of them in the
// end.
func TestWhoNeverWaitsGetsALockWithManyEnds(t *testing.T) {
	for _, n := range []int{1, 16, 17, 100} {
		inWorld(t, func(t *testing.T, w *conformance.World) {
			many := w.Client("many")
			for range n {
				w.Acquire(shared(t, many).Read())
			}
			kill(w, "many", many)
			next := shared(t, w.Client("next")).Write()
			var held *lease.Lease
			for range 40 {
				if a := w.Start(next, 0); a.Err == nil {
					held = a.Granted()
					break
				} else {
					require.ErrorIs(t, a.Err, lease.ErrLockDelay)
				}
				w.After(delay)
			}
			require.NotNil(t, held, "with %d ended holders the lock is closed for ever: %d records, %d marked", n, len(records(w, path)), len(marked(w, path)))
		})
	}
}

// A process that had many slots is killed. When the delay has passed once, and the one
// who has waited has released the lock, others do not wait for these ends again.
func TestManyEndsAreWaitedForOnce(t *testing.T) {
	for _, n := range []int{64, 65, 200} {
		inWorld(t, func(t *testing.T, w *conformance.World) {
			many := w.Client("many")
			for range n {
				w.Acquire(shared(t, many).Read())
			}
			kill(w, "many", many)
			first := w.Start(shared(t, w.Client("first")).Write(), time.Hour)
			require.NoError(t, first.Granted().Release())
			require.GreaterOrEqual(t, first.Took, delay)
			w.Settle()
			require.Empty(t, records(w, path), "of %d holders that ended before the lock was granted again", n)
			next := w.Start(shared(t, w.Client("next")).Write(), time.Hour)
			next.Granted()
			require.Less(t, next.Took, time.Second, "after a clean release, with %d ends before that", n)
		})
	}
}

// A delay is a day at most.
func TestADelayWithoutEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		for _, d := range []time.Duration{-1, 24*time.Hour + 1, lease.Forever} {
			_, err := mutex.New(w.Named("a"), path, mutex.WithLockDelay(d))
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		_, err := mutex.New(w.Named("a"), path, mutex.WithLockDelay(24*time.Hour))
		require.NoError(t, err)
	})
}

// A process that had all stripes is killed. Resize waits for the delay at each.
func TestResizeOfStripesWaitsForTheDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		of := func(name string) *striped.Locks {
			l, err := striped.New(w.Named(name), path, 4, striped.WithLockDelay(delay))
			require.NoError(t, err)
			return l
		}
		for range 4 {
			_, _, err := of("a").AcquireAny(t.Context(), time.Minute)
			require.NoError(t, err)
		}
		kill(w, "a", w.Named("a"))
		began := time.Now()
		_, err := of("b").Resize(t.Context(), 8, time.Hour)
		require.NoError(t, err)
		require.InDelta(t, 4*delay, time.Since(began), float64(time.Second))
	})
}

// A lock below that of another one, called like the node of a delay, is refused. Other
// software may have one all the same: its contenders are not taken for records.
func TestALockCalledLockDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		_, err := mutex.New(b, dir)
		require.ErrorIs(t, err, framework.ErrInvalidPath)
		require.NoError(t, w.Acquire(delayed(t, a)).Release())
		other, err := b.Create(t.Context(), dir+"/other-lock-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		require.NoError(t, w.Start(delayed(t, a), 0).Granted().Release())
		exists, _, err := b.Exists(t.Context(), other.Path)
		require.NoError(t, err)
		require.True(t, exists)
	})
}
