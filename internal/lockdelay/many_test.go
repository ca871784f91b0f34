package lockdelay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// A delay without end keeps the lock closed until an operator deletes the record.
func TestADelayWithoutEnd(t *testing.T) {
	for _, d := range []time.Duration{lease.Forever, lease.Forever/2 + 1} {
		inWorld(t, func(t *testing.T, w *conformance.World) {
			of := func(name string) *mutex.Mutex {
				m, err := mutex.New(w.Named(name), path, mutex.WithLockDelay(d))
				require.NoError(t, err)
				return m
			}
			w.Acquire(of("a"))
			kill(w, "a", w.Named("a"))
			for range 3 {
				require.ErrorIs(t, w.Start(of("b"), time.Minute).Failed(), lease.ErrLockDelay)
			}
		})
	}
}

// A process that had all stripes is killed. Resize waits for the delay.
func TestResizeOfStripesWaitsForTheDelayOnce(t *testing.T) {
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
		require.Less(t, time.Since(began), delay+delay/2, "it waits for each stripe after the other")
	})
}

// The path of a lock is a child of that of another one, called like the node of a
// delay. They have nothing to do with each other.
func TestALockCalledLockDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		other, err := mutex.New(b, dir)
		if err != nil {
			return // refused
		}
		require.NoError(t, w.Acquire(delayed(t, a)).Release())
		held := w.Acquire(other)
		late := w.Start(delayed(t, a), 2*delay)
		<-late.Done()
		assert.NoError(t, held.Err(), "the znode of a live holder of another lock is deleted")
		assert.NoError(t, late.Err)
	})
}
