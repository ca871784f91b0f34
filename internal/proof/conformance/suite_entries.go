package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// entries are the tests of who acquires with the context of a lease.
var entries = rows{
	"a lease is re-entered":                    reEntry,
	"a slot is held until its last lease ends": lastLeaseKeepsThePlace,
	"re-entry goes by path and client":         enteredByPathAndClient,
	"contexts that own no lease":               strangersByContext,
}

func reEntry(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	w.After(time.Second)
	asked := w.Requests(func() {
		inner, err := r.New(c, path).Acquire(held.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, held.Token(), inner.Token())
		require.Equal(t, held.Path(), inner.Path())
		require.NoError(t, inner.Release())
		require.ErrorIs(t, inner.Release(), lease.ErrReleased)
	})
	require.Empty(t, asked, "it costs nothing")
	require.NoError(t, held.Err())

	inner, err := r.New(c, path).Acquire(held.Context(), time.Second)
	require.NoError(t, err)
	w.Expire(c)
	w.After(time.Second)
	for _, ctx := range []context.Context{held.Context(), inner.Context(), context.WithoutCancel(inner.Context())} {
		_, err = r.New(c, path).Acquire(ctx, time.Minute)
		require.ErrorIs(t, err, lease.ErrLost, "what is lost is not entered")
	}
	require.ErrorIs(t, inner.Release(), lease.ErrLost)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	_, err = r.New(c, path).Acquire(context.WithoutCancel(held.Context()), time.Minute)
	require.ErrorIs(t, err, lease.ErrLost, "also after the release")
	release(t, w.Acquire(r.New(c, path)))
}

// lastLeaseKeepsThePlace releases leases of one place in any order, also from a
// goroutine that was started under one of them.
func lastLeaseKeepsThePlace(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	outer := w.Acquire(a)
	deeper, cancel := context.WithTimeout(outer.Context(), time.Hour)
	defer cancel()
	middle := w.StartWith(deeper, a, 0).Granted()
	inner := w.StartWith(middle.Context(), a, time.Second).Granted()
	require.Len(t, w.Ephemerals("/"), 1)
	stranger := w.Start(r.next()(w.Client("b"), path), lease.Forever)
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
	require.True(t, stranger.Waiting())
	release(t, middle)
	release(t, stranger.Granted())
	require.ErrorIs(t, middle.Release(), lease.ErrReleased)
}

func enteredByPathAndClient(t *testing.T, w *World, r Recipe) {
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
	require.Equal(t, held.Token(), again.Token(), "what was entered first is still owned")
	view, err := c.Namespace("conformance")
	require.NoError(t, err)
	through := w.StartWith(held.Context(), r.New(view, "/place"), 0).Granted()
	require.Equal(t, held.Token(), through.Token(), "the same node by another view is the same place")
	release(t, through, again, also, held)
}

// strangersByContext looks at contexts that own nothing, although they come from a
// lease's.
func strangersByContext(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	held := w.Acquire(a)
	kept := context.WithoutCancel(held.Context())
	at := w.StartWith(lease.WithoutOwner(context.WithoutCancel(held.Context())), r.next()(c, path), lease.Forever)
	require.True(t, at.Waiting())
	release(t, held)
	_, err := a.Acquire(held.Context(), 0)
	require.ErrorIs(t, err, lease.ErrReleased, "its context has ended, too")
	release(t, at.Granted())

	next := w.Acquire(r.next()(c, path))
	require.ErrorIs(t, w.StartWith(kept, a, 0).Failed(), lease.ErrTimeout, "what it has released it does not own")
	release(t, next)
	got := w.StartWith(lease.WithoutOwner(t.Context()), a, 0).Granted()
	inner := w.StartWith(got.Context(), a, 0).Granted()
	require.Equal(t, got.Token(), inner.Token(), "what it got after that it owns")
	release(t, inner, got)
}
