package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Another client deletes the node of a waiter at the moment of its grant. The watch of
// the wait tells the holder, so at no time two leases are valid.
func TestNodeDeletedRightAfterHandOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		referee := &conformance.Referee{Slots: 1}
		held := w.Acquire(newMutex(t, a))
		second := w.Start(newMutex(t, b), lease.Forever)
		third := w.Start(newMutex(t, c), lease.Forever)
		require.NoError(t, held.Release())
		got := second.Granted()
		referee.Grant("b", got)
		w.Remove(a, got.Path())
		w.Settle()
		require.False(t, third.Waiting())
		next := third.Granted()
		referee.Grant("c", next)
		require.Empty(t, referee.Faults())
		require.ErrorIs(t, got.Err(), lease.ErrDeleted)
		require.ErrorIs(t, got.Release(), lease.ErrDeleted)
		require.NoError(t, next.Release())
	})
}

// One transaction deletes the node of a waiter and the one it waits for. Of the two
// events the first arrives alone: the lease is granted, and lost with the second.
func TestNodeDeletedTogetherWithTheOneAhead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), lease.Forever)
		w.After(time.Second)
		list, err := newMutex(t, a).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 2)
		own := path + "/" + list[1].Node
		w.Server.On(zktest.AnyOp, own).Client("b").OnEvent().Delay(5 * time.Millisecond)
		_, err = a.Multi(t.Context(), framework.DeleteOp(held.Path(), framework.AnyVersion), framework.DeleteOp(own, framework.AnyVersion))
		require.NoError(t, err)
		got := attempt.Granted()
		require.Equal(t, own, got.Path())
		w.After(5 * time.Millisecond)
		require.ErrorIs(t, got.Err(), lease.ErrDeleted)
		require.ErrorIs(t, got.Release(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrDeleted)
	})
}

// A hold after a wait sets no watch of its own, and sees events until it ends.
func TestHoldGoesOnWithTheWatchOfTheWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), time.Minute)
		w.After(time.Second)
		require.Zero(t, w.Requests(func() {
			require.NoError(t, held.Release())
			require.NoError(t, attempt.Granted().Err())
			w.After(2 * time.Minute) // longer than the timeout, which bounded the wait alone
		})[zktest.OpGetData])
		require.NoError(t, attempt.Lease.Err())
		w.Remove(a, attempt.Lease.Path())
		w.Settle()
		require.ErrorIs(t, attempt.Lease.Err(), lease.ErrDeleted)
		require.ErrorIs(t, attempt.Lease.Release(), lease.ErrLost)
	})
}
