package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The first to acquire stores the number, and who has another one is refused at once,
// whether a stripe is free or not.
func TestNumberIsStoredByTheFirst(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLocks(t, w.Client("a"), 8), newLocks(t, w.Client("b"), 9)
		for _, ask := range []lease.Acquirer{a.For("key"), anyStripe(a)} {
			held := w.Acquire(ask)
			require.Equal(t, "8 stripes", stored(w))
			for _, refused := range []lease.Acquirer{b.For("key"), b.For("other"), anyStripe(b)} {
				for _, timeout := range []time.Duration{0, time.Hour, lease.Forever} {
					at := w.Start(refused, timeout)
					require.ErrorIs(t, at.Failed(), striped.ErrSizeMismatch)
					require.ErrorContains(t, at.Err, "9 given, 8 stored")
					require.NotErrorIs(t, at.Err, lease.ErrTimeout)
					require.Zero(t, at.Took)
				}
			}
			w.Settle()
			require.Len(t, w.Ephemerals("/"), 1)
			release(w, held)
		}
	})
}

// apart is a key that has another stripe of two than of three.
const apart = "b"

// Of two values with different numbers that come first at the same time, whichever
// request of one is delayed, one gets the error, and there is never a holder of each.
func TestDifferentNumbersAtTheSameTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ca, cb := w.Client("a"), w.Client("b")
		require.NotEqual(t, newLocks(t, ca, 2).Index(apart), newLocks(t, ca, 3).Index(apart))
		for _, phase := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply} {
			for nth := 1; ; nth++ {
				slow := w.Server.On(zktest.AnyOp, path).Client("b").Nth(nth).Optional()
				if phase == zktest.PhaseAfterApply {
					slow.After()
				}
				slow.Delay(500 * time.Millisecond)
				all := []*conformance.Attempt{
					w.Start(newLocks(t, cb, 3).For(apart), time.Minute), // until its request is delayed
					w.Start(newLocks(t, ca, 2).For(apart), time.Minute),
				}
				w.After(5 * time.Second)
				refused := 0
				for _, at := range all {
					require.False(t, at.Waiting())
					if at.Err != nil {
						require.ErrorIs(t, at.Err, striped.ErrSizeMismatch)
						refused++
					}
				}
				require.Equal(t, 1, refused, "request %d delayed", nth)
				for _, at := range all {
					if at.Err == nil {
						release(w, at.Lease)
					}
				}
				slow.Remove()
				w.Settle()
				require.NoError(t, w.Named("operator").DeleteTree(t.Context(), path))
				if !conformance.Closed(slow.Fired()) {
					require.Greater(t, nth, 5)
					break
				}
			}
		}
	})
}

// The number is read once. Then it costs nothing, until it was not needed for a session
// timeout, or the connection has broken.
func TestNumberIsKnown(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		l := newLocks(t, c, 4)
		release(w, w.Acquire(l.For("key")))
		reads := func(ask lease.Acquirer) int {
			return w.Requests(func() { release(w, w.Acquire(ask)) })[zktest.OpGetData]
		}
		for range 20 {
			w.After(conformance.SessionTimeout / 2)
			require.Zero(t, reads(l.For("key")))
			require.Zero(t, reads(anyStripe(l)))
			require.Zero(t, reads(newLocks(t, c, 4).For("other"))-1, "another value looks at first")
		}
		w.Server.DropConnections("a")
		w.After(time.Second)
		require.Equal(t, 1, reads(l.For("key")))
		require.Zero(t, reads(l.For("key")))
		leavesNothing(w)
		require.Equal(t, 1, reads(l.For("key")))
	})
}

// Data that is no number of stripes is not overwritten, and a semaphore does the same.
func TestForeignData(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		require.NoError(t, c.CreateParents(t.Context(), path+"/child"))
		for _, data := range []string{"x", "8", "08 stripes", "8 stripes ", "-8 stripes", "\x00\x00\x00\x08"} {
			_, err := c.Set(t.Context(), path, []byte(data), framework.AnyVersion)
			require.NoError(t, err)
			for _, ask := range []lease.Acquirer{newLocks(t, c, 8).For("key"), anyStripe(newLocks(t, c, 8))} {
				for _, timeout := range []time.Duration{0, time.Hour} {
					require.ErrorIs(t, w.Start(ask, timeout).Failed(), lease.ErrForeignData)
				}
			}
			require.Equal(t, data, stored(w))
		}
		_, err := c.Set(t.Context(), path, nil, framework.AnyVersion)
		require.NoError(t, err)
		release(w, w.Acquire(newLocks(t, c, 8).For("key")))
		permits, err := semaphore.New(c, path, 8)
		require.NoError(t, err)
		require.ErrorIs(t, w.Start(permits, time.Hour).Failed(), lease.ErrForeignData)
		require.Equal(t, "8 stripes", stored(w))
	})
}

// Those who wait while the number changes are refused, whether they know the old one or
// not, in other sessions and in that of the one who changes it.
func TestNumberChangesWhileOthersWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ca, cb := w.Client("a"), w.Client("b")
		for _, knows := range []bool{false, true} {
			l := newLocks(t, ca, 2)
			var waiters []*conformance.Attempt
			resizing := w.Server.On(zktest.OpMulti, "").Client("a").Before().Delay(time.Second)
			all := []*striped.Locks{newLocks(t, ca, 2), newLocks(t, cb, 2)}
			for _, other := range all {
				if knows {
					release(w, w.Acquire(other.For("key")))
				}
			}
			var resized *striped.Locks
			done := make(chan error)
			go func() {
				var err error
				resized, err = l.Resize(t.Context(), 3, time.Minute)
				done <- err
			}()
			<-resizing.Fired()
			for _, other := range all {
				waiters = append(waiters, w.Start(other.For("key"), lease.Forever), w.Start(anyStripe(other), lease.Forever), w.Start(other.For("more"), time.Hour))
			}
			for _, at := range waiters {
				require.True(t, at.Waiting())
			}
			require.NoError(t, <-done)
			for _, at := range waiters {
				require.ErrorIs(t, at.Failed(), striped.ErrSizeMismatch)
				require.ErrorContains(t, at.Err, "2 given, 3 stored")
			}
			for _, other := range all {
				require.ErrorIs(t, w.Start(other.For("key"), 0).Failed(), striped.ErrSizeMismatch)
			}
			release(w, w.Acquire(resized.For("key")))
			back, err := resized.Resize(t.Context(), 2, time.Minute)
			require.NoError(t, err)
			release(w, w.Acquire(back.For("key")))
			release(w, w.Acquire(all[0].For("more")))
		}
		leavesNothing(w)
	})
}
