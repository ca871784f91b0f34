package multilock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An acquire that must not wait does not try again when it loses one of the locks
// before it has all.
func TestAtOnceThatLosesALock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		readers, err := rwlock.New(c, cart, rwlock.WithMaxHold(20*time.Millisecond))
		require.NoError(t, err)
		w.Server.SetFaults(func(call zktest.Call) zktest.Action {
			if call.Client == "a" && call.Phase == zktest.PhaseAfterApply && (call.Op == zktest.OpCreate || call.Op == zktest.OpGetChildren2) {
				return zktest.Delay(30 * time.Millisecond)
			}
			return zktest.Pass
		})
		at := w.StartWith(context.Background(), lockOn(t, []lease.Acquirer{readers.Read(), newMutex(t, c, stock)}), 0)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.NotErrorIs(t, at.Err, lease.ErrLost)
		require.Less(t, at.Took, time.Second)
	})
}

// Tries that lose a lock each time have pauses, which grow.
func TestPausesAfterLosses(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		blocking := w.Acquire(newMutex(t, other, stock))
		brief := lockOn(t, []lease.Acquirer{newMutex(t, c, cart, mutex.WithMaxHold(time.Millisecond)), newMutex(t, c, stock)})
		w.Server.ResetCounts()
		require.ErrorIs(t, w.Start(brief, 10*time.Second).Failed(), lease.ErrTimeout)
		require.Less(t, w.Server.CountOf("a", zktest.OpCreate), 60)
		require.NoError(t, blocking.Release())
	})
}

// A deadline that passes while a lock that was lost is given up is a timeout.
func TestDeadlineBehindALoss(t *testing.T) {
	errOwn := errors.New("own deadline")
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		blocking := w.Acquire(newMutex(t, other, stock))
		brief := lockOn(t, []lease.Acquirer{newMutex(t, c, cart, mutex.WithMaxHold(time.Second)), newMutex(t, c, stock)}, unlimited)
		slow := w.Server.On(zktest.OpDelete, stock).Client("a").After().Delay(40 * time.Millisecond)
		ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(1020*time.Millisecond), errOwn)
		defer cancel()
		at := w.StartWith(ctx, brief, lease.Forever)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.True(t, conformance.Closed(slow.Fired()))
		require.ErrorIs(t, at.Err, errOwn)
		require.NotErrorIs(t, at.Err, lease.ErrLost)
		require.NoError(t, blocking.Release())
	})
}

// A downgraded reader's context has a timer of its own, which may be the first.
func TestDeadlineOfADowngradedWait(t *testing.T) {
	errOwn := errors.New("own deadline")
	for range 20 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c, other := w.Client("a"), w.Client("other")
			catalog, err := rwlock.New(c, "/a catalog")
			require.NoError(t, err)
			blocking := w.Acquire(newMutex(t, other, stock))
			ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(3*time.Second), errOwn)
			defer cancel()
			writing, err := catalog.Write().Acquire(ctx, lease.Forever)
			require.NoError(t, err)
			_, err = lockOn(t, []lease.Acquirer{catalog.Read(), newMutex(t, c, stock)}, unlimited).Acquire(writing.Context(), lease.Forever)
			late := &lease.TimeoutError{}
			require.ErrorAs(t, err, &late)
			require.Equal(t, errOwn, late.Cause)
			require.Equal(t, 3*time.Second, late.Waited)
			require.NoError(t, writing.Release())
			require.NoError(t, blocking.Release())
		})
	}
}

// The errors that observers are given do not change afterwards.
func TestErrorsOfObserversStayAsTheyAre(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var errs []error
		var texts []string
		c := w.Client("a", func(cfg *framework.Config) {
			cfg.Observers = append(cfg.Observers, framework.Observer{AcquireEnded: func(_ context.Context, e framework.AcquireEnd) {
				if e.Err != nil {
					errs, texts = append(errs, e.Err), append(texts, e.Err.Error())
				}
			}})
		})
		first, second := w.Acquire(newMutex(t, w.Client("first"), cart)), w.Acquire(newMutex(t, w.Client("second"), stock))
		at := w.Start(both(t, c), 5*time.Second)
		w.After(2 * time.Second)
		require.NoError(t, first.Release())
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.NotEmpty(t, errs)
		for i, err := range errs {
			require.EqualError(t, err, texts[i])
		}
		require.NoError(t, second.Release())
	})
}

// An acquire that must not wait for other contenders waits for a moment for servers.
func TestAtOnceThroughABreak(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		l := both(t, c)
		require.NoError(t, w.Acquire(l).Release())
		w.Server.On(zktest.OpCreate, stock).Client("a").Before().Cut()
		require.NoError(t, w.Start(l, 0).Granted().Release())
	})
}
