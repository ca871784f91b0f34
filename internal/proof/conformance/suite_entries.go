package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// entries are the tests of an Acquire with the context of a lease.
var entries = rows{
	"a lease is re-entered":                    leaseIsReEntered,
	"a slot is held until its last lease ends": lastLeaseKeepsTheSlot,
	"re-entry goes by path and client":         reEntryByPathAndClient,
	"contexts that own no lease":               contextsWithoutLease,
}

func leaseIsReEntered(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	w.After(time.Second)
	requests := w.Requests(func() {
		inner, err := r.New(c, path).Acquire(held.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, held.Token(), inner.Token())
		require.Equal(t, held.Path(), inner.Path())
		require.NoError(t, inner.Release())
		require.ErrorIs(t, inner.Release(), lease.ErrReleased)
	})
	require.Empty(t, requests, "re-entry costs no request")
	require.NoError(t, held.Err())

	inner, err := r.New(c, path).Acquire(held.Context(), time.Second)
	require.NoError(t, err)
	w.Expire(c)
	w.After(time.Second)
	for _, ctx := range []context.Context{held.Context(), inner.Context(), context.WithoutCancel(inner.Context())} {
		_, err = r.New(c, path).Acquire(ctx, time.Minute)
		require.ErrorIs(t, err, lease.ErrLost, "a lost lease is not re-entered")
	}
	require.ErrorIs(t, inner.Release(), lease.ErrLost)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	_, err = r.New(c, path).Acquire(context.WithoutCancel(held.Context()), time.Minute)
	require.ErrorIs(t, err, lease.ErrLost, "also after the release")
	release(t, w.Acquire(r.New(c, path)))
}

// lastLeaseKeepsTheSlot releases the leases of one slot in any order, also from another
// goroutine.
func lastLeaseKeepsTheSlot(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	outer := w.Acquire(a)
	deeper, cancel := context.WithTimeout(outer.Context(), time.Hour)
	defer cancel()
	middle := w.StartWith(deeper, a, 0).Granted()
	inner := w.StartWith(middle.Context(), a, time.Second).Granted()
	require.Len(t, w.Ephemerals("/"), r.count())
	other := w.Start(r.next()(w.Client("b"), path), lease.Forever)
	release(t, outer)
	require.ErrorIs(t, context.Cause(outer.Context()), lease.ErrReleased)
	require.NoError(t, inner.Err())
	require.NoError(t, middle.Err())
	done := make(chan error)
	go func() {
		pass(time.Second)
		done <- inner.Release()
	}()
	require.NoError(t, <-done)
	require.True(t, other.Waiting())
	release(t, middle)
	release(t, other.Granted())
	require.ErrorIs(t, middle.Release(), lease.ErrReleased)
}

func reEntryByPathAndClient(t *testing.T, w *World, r Recipe) {
	const elsewhere = "/conformance/elsewhere"
	c, b := w.Client("a"), w.Client("b")
	held := w.Acquire(r.New(c, path))
	other := w.StartWith(held.Context(), r.New(b, path), 0)
	if r.shares() {
		require.NotEqual(t, held.Token(), other.Granted().Token(), "another client is another owner")
		release(t, other.Granted())
	} else {
		require.ErrorIs(t, other.Failed(), lease.ErrTimeout, "another client is another owner")
	}
	also := w.StartWith(held.Context(), r.New(c, elsewhere), 0).Granted()
	require.NotEqual(t, held.Token(), also.Token())
	again := w.StartWith(also.Context(), r.New(c, path), 0).Granted()
	require.Equal(t, held.Token(), again.Token(), "the first lease is still owned")
	view, err := c.Namespace("conformance")
	require.NoError(t, err)
	through := w.StartWith(held.Context(), r.New(view, "/recipe"), 0).Granted()
	require.Equal(t, held.Token(), through.Token(), "another view of the client re-enters the same lease")
	release(t, through, again, also, held)
}

// contextsWithoutLease uses contexts that own no lease, although they derive from a
// lease's context.
func contextsWithoutLease(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	held := w.Acquire(a)
	kept := context.WithoutCancel(held.Context())
	at := w.StartWith(lease.WithoutOwner(context.WithoutCancel(held.Context())), r.next()(c, path), lease.Forever)
	require.True(t, at.Waiting())
	release(t, held)
	_, err := a.Acquire(held.Context(), 0)
	require.ErrorIs(t, err, lease.ErrReleased, "its context has ended")
	release(t, at.Granted())

	next := w.Acquire(r.next()(c, path))
	require.ErrorIs(t, w.StartWith(kept, a, 0).Failed(), lease.ErrTimeout, "a released lease is not owned")
	release(t, next)
	got := w.StartWith(lease.WithoutOwner(t.Context()), a, 0).Granted()
	inner := w.StartWith(got.Context(), a, 0).Granted()
	require.Equal(t, got.Token(), inner.Token(), "a lease acquired after that is owned")
	release(t, inner, got)
}
