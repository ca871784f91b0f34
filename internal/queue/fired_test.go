package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A goroutine handles the answer to a read later than an event that came behind it.
func TestWatchThatFiresBeforeItsReadIsHandledIsNotSet(t *testing.T) {
	t.Parallel()
	require.False(t, queue.FiresDuringItsRead())
}

// The watch on the own node fires, because data was set, before the answer to the read
// that has set it may be handled: a goroutine made that read, because the first one has
// failed. Then the watch does not count as set: the node is deleted, and the node ahead
// after that, and the event of the latter does not admit.
func TestWatchThatFiresBeforeItsReadIsAnsweredDoesNotCount(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		held := w.Acquire(mutexOf(t, w.Client("b")))
		before := w.Ephemerals("/")
		failed, delayed := false, false
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			switch {
			case c.Client != "a" || c.Op != zktest.OpGetData || c.Path == held.Path():
			case c.Phase == zktest.PhaseBeforeApply && !failed:
				failed = true
				return zktest.Fail(zktest.ThrottledOp)
			case c.Phase == zktest.PhaseAfterApply && failed && !delayed:
				delayed = true
				return zktest.Delay(500 * time.Millisecond)
			}
			return zktest.Pass
		})
		at := w.Start(mutexOf(t, a), lease.Forever)
		w.After(100 * time.Millisecond)
		require.True(t, delayed)
		own := slices.DeleteFunc(w.Ephemerals("/"), func(node string) bool { return slices.Contains(before, node) })
		require.Len(t, own, 1)
		_, err := operator.Set(t.Context(), own[0], []byte("x"), framework.AnyVersion)
		require.NoError(t, err)
		w.Remove(operator, own[0])
		require.NoError(t, held.Release())
		got := at.Granted()
		require.NotEqual(t, own[0], got.Path())
		require.NoError(t, got.Confirm(t.Context()))
		require.NoError(t, got.Release())
	})
}

// A hold that a deletion has granted has the watch of its position: a deletion of its
// node ends it at once, also while a position of its session waits for that node.
func TestHoldIsNotifiedByTheWatchOfItsPosition(t *testing.T) {
	for _, successor := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, operator := w.Client("a"), w.Client("operator")
			held := w.Acquire(mutexOf(t, w.Client("b")))
			at := w.Start(mutexOf(t, a), lease.Forever)
			w.After(time.Second)
			var next *conformance.Attempt
			if successor {
				next = w.Start(mutexOf(t, a), lease.Forever)
				w.After(time.Second)
			}
			require.NoError(t, held.Release())
			got := at.Granted()
			w.Settle()
			w.Remove(operator, got.Path())
			w.Settle()
			require.ErrorIs(t, got.Err(), lease.ErrDeleted, "successor %v", successor)
			if successor {
				require.NoError(t, next.Granted().Release())
			}
		})
	}
}

// The event comes while the hold takes the watch over: it looks for the hold before
// that is there, and the hold asks for events right after that. One of both notifies
// it.
func TestEventDuringTheHandoverOfTheWatch(t *testing.T) {
	notified := false
	var watch hold.Watch
	watch, event := queue.DetachedWatch(func() {
		_, notified = watch.Take(func(framework.Event) { notified = true })
	})
	event(framework.Event{Type: framework.EventDeleted})
	require.True(t, notified)
}
