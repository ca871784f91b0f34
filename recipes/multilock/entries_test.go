package multilock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A lock that the caller holds is re-entered. It is still held when the lease on all is
// over, however that ends.
func TestOneOfTheLocksIsHeldAlready(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator, c := w.Client("operator"), w.Client("a")
		outer := w.Acquire(newMutex(t, c, cart))
		held := w.StartWith(outer.Context(), both(t, c), time.Minute).Granted()
		require.Len(t, w.Ephemerals("/"), 2)
		require.Equal(t, outer.Token(), held.Tokens()[0])
		require.NoError(t, held.Release())
		require.NoError(t, outer.Err())
		require.Len(t, w.Ephemerals(cart), 1)
		require.Empty(t, w.Ephemerals(stock))

		held = w.StartWith(outer.Context(), both(t, c), time.Minute).Granted()
		w.After(time.Second)
		w.Remove(operator, w.Ephemerals(stock)[0])
		w.Settle()
		require.ErrorIs(t, held.Err(), lease.ErrDeleted)
		w.After(conformance.SessionTimeout)
		require.NoError(t, outer.Err(), "that was only entered")
		require.ErrorIs(t, held.Release(), lease.ErrDeleted)
		require.NoError(t, outer.Err())
		require.NoError(t, outer.Release())
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
}

// The context of the lease re-enters each of its locks, alone or in another multi-lock.
func TestContextReentersEachLock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(both(t, c))
		for _, a := range []lease.Acquirer{
			newMutex(t, c, cart), newMutex(t, c, stock), both(t, c),
			lockOn(t, []lease.Acquirer{newMutex(t, c, stock), newMutex(t, c, cart)}),
		} {
			inner := w.StartWith(held.Context(), a, 0).Granted()
			require.Len(t, w.Ephemerals("/"), 2)
			require.NoError(t, inner.Release())
			require.NoError(t, held.Err())
		}
		wider := lockOn(t, []lease.Acquirer{newMutex(t, c, stock), newMutex(t, c, "/locks/more")})
		inner := w.StartWith(held.Context(), wider, 0).Granted()
		require.Len(t, w.Ephemerals("/"), 3)
		require.NoError(t, held.Release())
		require.NoError(t, inner.Err())
		require.Empty(t, w.Ephemerals(cart))
		require.Len(t, w.Ephemerals(stock), 1)
		require.NoError(t, inner.Release())
	})
}

// Who holds a lock anyway does not release it by beginning again: so it waits for the
// others without a limit.
func TestNoLimitWhileNothingWouldBecomeFree(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		outer := w.Acquire(newMutex(t, c, cart))
		blocking := w.Acquire(newMutex(t, other, stock))
		at := w.StartWith(outer.Context(), both(t, c, multilock.WithWaitLimit(retry.Constant(time.Second))), lease.Forever)
		queue := w.Ephemerals(stock)
		w.After(time.Minute)
		require.Equal(t, queue, w.Ephemerals(stock), "it keeps its place in the queue")
		require.NoError(t, blocking.Release())
		require.NoError(t, at.Granted().Release())
		require.NoError(t, outer.Release())
	})
}

// Forks of the lease's context exclude each other at all locks.
func TestForksOfALease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(both(t, c))
		first := w.StartWith(lease.Fork(held.Context()), both(t, c), time.Minute).Granted()
		second := w.StartWith(lease.Fork(held.Context()), both(t, c), time.Minute)
		alone := w.StartWith(lease.Fork(held.Context()), newMutex(t, c, stock), time.Minute)
		w.After(100 * time.Millisecond)
		require.True(t, second.Waiting())
		require.True(t, alone.Waiting())
		require.Len(t, w.Ephemerals("/"), 2)
		require.NoError(t, first.Release())
		require.NoError(t, alone.Granted().Release())
		require.NoError(t, second.Granted().Release())
		require.NoError(t, held.Err())
		require.NoError(t, held.Release())
	})
}

// A lost lease is not re-entered, at none of its locks.
func TestLostLeaseIsNotReentered(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator, c := w.Client("operator"), w.Client("a")
		held := w.Acquire(both(t, c))
		w.After(time.Second)
		w.Remove(operator, w.Ephemerals(cart)[0])
		w.Settle()
		for _, path := range []string{cart, stock} {
			at := w.StartWith(context.WithoutCancel(held.Context()), newMutex(t, c, path), time.Minute)
			require.ErrorIs(t, at.Failed(), lease.ErrLost)
		}
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

// Forks exclude each other in memory. A foreign order among them delays, too, and does
// not block.
func TestForksInAForeignOrder(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		all := both(t, c)
		outer := w.Acquire(all)
		one, two := lease.Fork(outer.Context()), lease.Fork(outer.Context())
		second := w.StartWith(two, newMutex(t, c, stock), lease.Forever).Granted()
		waiting := w.StartWith(one, all, lease.Forever) // has cart, and waits for stock
		first := w.StartWith(second.Context(), newMutex(t, c, cart), lease.Forever)
		w.After(time.Second)
		require.True(t, waiting.Waiting())
		require.NoError(t, first.Granted().Release())
		require.Less(t, first.Took, 2*time.Second)
		require.NoError(t, second.Release())
		require.NoError(t, waiting.Granted().Release())
		require.NoError(t, outer.Release())
	})
}

// A fork that waits behind one that was part of a multi-lock gets its lock, when
// another lock of that is lost.
func TestForkWaitsBehindALostMultiLock(t *testing.T) {
	for _, released := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, operator := w.Client("a"), w.Client("operator")
			outer := w.Acquire(newMutex(t, a, cart))
			work := context.WithoutCancel(outer.Context())
			first := w.StartWith(lease.Fork(work), both(t, a), time.Minute).Granted()
			second := w.StartWith(lease.Fork(work), newMutex(t, a, cart), time.Minute)
			if released {
				require.NoError(t, outer.Release())
			}
			w.After(time.Second)
			w.Remove(operator, w.Ephemerals(stock)[0])
			w.After(2 * time.Second)
			require.ErrorIs(t, first.Release(), lease.ErrDeleted)
			require.NoError(t, second.Granted().Release(), "outer lease released: %v", released)
			_ = outer.Release()
		})
	}
}

// A lost lease is not re-entered, also not if it was entered twice.
func TestLostLeaseThatWasEnteredTwice(t *testing.T) {
	for _, twice := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			operator, c := w.Client("operator"), w.Client("a")
			held := w.Acquire(both(t, c))
			if twice {
				inner := w.StartWith(held.Context(), both(t, c), time.Minute).Granted()
				defer func() { _ = inner.Release() }()
			}
			w.After(time.Second)
			w.Remove(operator, w.Ephemerals(stock)[0])
			w.Settle()
			require.ErrorIs(t, held.Err(), lease.ErrLost)
			at := w.StartWith(context.WithoutCancel(held.Context()), newMutex(t, c, cart), time.Minute)
			<-at.Done()
			if at.Lease != nil {
				_ = at.Lease.Release()
			}
			_ = held.Release()
			require.ErrorIs(t, at.Err, lease.ErrLost, "twice: %v", twice)
		})
	}
}

// A reader to which the writer among the locks has downgraded goes on when the lease on
// all is released: only its context ends.
func TestDowngradedReaderOutlivesTheLease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		catalog, others := must(rwlock.New(c, stock)), must(rwlock.New(other, stock))
		held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, c, cart), catalog.Write()}))
		reading := w.StartWith(held.Context(), catalog.Read(), 0).Granted()
		writer := w.Start(others.Write(), time.Minute)
		require.NoError(t, held.Release())
		w.After(conformance.SessionTimeout)
		require.NoError(t, reading.Err())
		require.NoError(t, reading.Confirm(t.Context()))
		require.ErrorIs(t, context.Cause(reading.Context()), lease.ErrReleased)
		require.Empty(t, w.Ephemerals(cart))
		require.NoError(t, w.Start(newMutex(t, other, cart), 0).Granted().Release())
		require.True(t, writer.Waiting())
		require.NoError(t, reading.Release())
		require.NoError(t, writer.Granted().Release())
	})
}
