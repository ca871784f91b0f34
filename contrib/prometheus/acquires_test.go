package zkprom_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestNothingIsKnownOfALockBeforeItsFirstAcquire(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.measured("a")
		for _, name := range []string{
			"acquire_wait_seconds_count", "acquires_waiting", "acquire_ahead_count", "hand_over_seconds_count",
			"hold_seconds_count", "holds", "losses_total", "release_failures_total",
		} {
			assert.Empty(t, w.values(name), name)
		}
	})
}

func TestAHoldFromItsAcquireToItsRelease(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		held := w.Acquire(newMutex(t, w.measured("a")))
		assert.Equal(t, series{ofMutex: 1}, w.values("holds"))
		assert.Equal(t, series{ofMutex: 0}, w.values("acquires_waiting"))
		assert.Equal(t, series{ofMutex: 0}, w.values("hold_seconds_count"))
		assert.Equal(t, series{`outcome="granted",` + ofMutex: 1}, w.values("acquire_wait_seconds_count"))
		assert.Equal(t, series{ofMutex: 1}, w.values("acquire_ahead_count"))
		assert.Equal(t, series{ofMutex: 0}, w.values("acquire_ahead_sum"))
		w.After(3 * time.Second)
		require.NoError(t, held.Release())
		assert.Equal(t, series{ofMutex: 0}, w.values("holds"))
		assert.Equal(t, series{ofMutex: 3}, w.values("hold_seconds_sum"))
		assert.Equal(t, series{ofMutex: 1}, w.values("hold_seconds_count"))
		assert.Equal(t, series{ofMutex: 0}, w.values("hand_over_seconds_count"), "it did not wait")
	})
}

func TestAWaitThatEndsWithAHandOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		held := w.Acquire(newMutex(t, w.Client("holder")))
		first := w.Start(newMutex(t, w.Client("first")), lease.Forever)
		at := w.Start(newMutex(t, w.measured("a")), lease.Forever)
		assert.Equal(t, series{ofMutex: 1}, w.values("acquires_waiting"))
		assert.Empty(t, w.values("holds"))
		require.NoError(t, held.Release())
		w.After(2 * conformance.SessionTimeout / 3) // so that a quorum has to vouch for a session that was idle
		w.slow("a", 20*time.Millisecond)
		require.NoError(t, first.Granted().Release())
		granted := at.Granted()
		assert.Equal(t, series{ofMutex: 0}, w.values("acquires_waiting"))
		assert.Equal(t, series{ofMutex: 2}, w.values("acquire_ahead_sum"))
		assert.InDelta(t, at.Took.Seconds(), w.values("acquire_wait_seconds_sum")[`outcome="granted",`+ofMutex], 1e-9)
		assert.Equal(t, series{ofMutex: 1}, w.values("hand_over_seconds_count"))
		took := w.values("hand_over_seconds_sum")[ofMutex]
		assert.GreaterOrEqual(t, took, .02)
		assert.Less(t, took, .5)
		require.NoError(t, granted.Release())
	})
}

func TestAcquiresByTheirOutcome(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		held := w.Acquire(newMutex(t, w.Client("holder")))
		m := newMutex(t, w.measured("a"))
		require.ErrorIs(t, w.Start(m, 0).Failed(), lease.ErrTimeout)
		require.ErrorIs(t, w.Start(m, 5*time.Second).Failed(), lease.ErrTimeout)

		errMine := errors.New("cancelled by the test")
		at := w.Start(m, lease.Forever)
		w.After(time.Second)
		at.Cancel(errMine)
		require.ErrorIs(t, at.Failed(), errMine)

		refused := w.Server.On(zktest.OpCreate, path).Client("a").Before().Always().Fail(zktest.NoAuth)
		require.ErrorIs(t, w.Start(m, lease.Forever).Failed(), framework.ErrNoAuth)
		refused.Remove()

		closing := w.measured("closed")
		at = w.Start(newMutex(t, closing), lease.Forever)
		assert.Equal(t, series{ofMutex: 1}, w.values("acquires_waiting"))
		require.NoError(t, closing.Close())
		require.ErrorIs(t, at.Failed(), framework.ErrClosed)

		assert.Equal(t, series{
			`outcome="timeout",` + ofMutex: 2, `outcome="canceled",` + ofMutex: 1, `outcome="failed",` + ofMutex: 1, `outcome="closed",` + ofMutex: 1,
		}, w.values("acquire_wait_seconds_count"))
		assert.InDelta(t, 5, w.values("acquire_wait_seconds_sum")[`outcome="timeout",`+ofMutex], .1)
		assert.Equal(t, series{ofMutex: 0}, w.values("acquires_waiting"))
		assert.Equal(t, series{ofMutex: 4}, w.values("acquire_ahead_count"), "one of them has not seen the queue")
		assert.Equal(t, series{ofMutex: 4}, w.values("acquire_ahead_sum"))
		assert.Equal(t, series{ofMutex: 0}, w.values("hand_over_seconds_count"))
		assert.Empty(t, w.values("holds"))
		require.NoError(t, held.Release())
	})
}

func TestAReEntryIsAnAcquireWithoutAHold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := newMutex(t, w.measured("a"))
		outer := w.Acquire(m)
		inner := w.StartWith(outer.Context(), m, 0).Granted()
		forked := w.StartWith(lease.Fork(outer.Context()), m, time.Minute)
		require.NoError(t, inner.Release())
		require.NoError(t, outer.Release())
		assert.Equal(t, series{`outcome="granted",` + ofMutex: 1, `outcome="re-entered",` + ofMutex: 2}, w.values("acquire_wait_seconds_count"))
		assert.Equal(t, series{ofMutex: 1}, w.values("acquire_ahead_count"))
		assert.Equal(t, series{ofMutex: 1}, w.values("holds"), "until the fork has released")
		require.NoError(t, forked.Granted().Release())
		assert.Equal(t, series{ofMutex: 0}, w.values("holds"))
		assert.Equal(t, series{ofMutex: 1}, w.values("hold_seconds_count"))
	})
}

// However an acquire is interrupted, in whatever it does, it does not wait any more.
func TestAcquiresThatAreInterrupted(t *testing.T) {
	for name, interrupt := range map[string]func(w *world, c *framework.Client, at *conformance.Attempt){
		"canceled": func(_ *world, _ *framework.Client, at *conformance.Attempt) { at.Cancel(nil) },
		"closed":   func(_ *world, c *framework.Client, _ *conformance.Attempt) { c.Close() },
		"expired":  func(w *world, c *framework.Client, _ *conformance.Attempt) { w.Expire(c) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				c := w.measured("a")
				w.slow("a", 10*time.Millisecond)
				for after := range 8 {
					if c.State() == framework.Closed {
						c = w.measured("a")
					}
					at := w.Begin(t.Context(), newMutex(t, c), time.Minute)
					w.After(time.Duration(after) * 9 * time.Millisecond)
					interrupt(w, c, at)
					<-at.Done()
					if at.Err == nil {
						_ = at.Lease.Release() // of a client that may be closed
					}
					w.After(time.Second)
				}
				assert.Equal(t, series{ofMutex: 0}, w.values("acquires_waiting"))
				assert.Empty(t, w.values("holds").nonZero())
				assert.Zero(t, w.values("cleanups_pending")[""])
			})
		})
	}
}
