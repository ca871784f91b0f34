package conformance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// forks are the tests of goroutines that work under one lease, each with a fork of its
// context.
var forks = rows{
	"forks are admitted in order":           forksAreAdmittedInOrder,
	"a fork that times out":                 forkTimesOut,
	"forks keep the slot held":              forksKeepTheSlot,
	"forks of a lost lease":                 forksAreLost,
	"a fork on another path is a new owner": forkOnAnotherPath,
	"a fork without a lease is a new owner": forkWithoutLease,
	"forks of a fork are admitted in order": forkOfAFork,
	"a fork re-enters its own lease":        forkReEnters,
}

// shares tells whether several forks of one owner may hold leases together.
func (r Recipe) shares() bool { return r.Slots == 0 }

// fork starts an acquire of the recipe with a fork of a lease's context.
func (w *World) fork(r Recipe, c *framework.Client, held *lease.Lease, timeout time.Duration) *Attempt {
	return w.StartWith(lease.Fork(held.Context()), r.New(c, path), timeout)
}

func forksAreAdmittedInOrder(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	w.Server.ResetCounts()
	const workers = 5
	var now, most atomic.Int32
	var order []int
	var all sync.WaitGroup
	for i := range workers {
		ctx := lease.Fork(held.Context())
		all.Go(func() {
			pass(time.Duration(i) * time.Millisecond) // that is the order
			l, err := r.New(c, path).Acquire(ctx, time.Hour)
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), now.Add(1)))
			if !r.shares() {
				order = append(order, i)
			}
			pass(time.Second)
			if l.Token() != held.Token() || l.Path() != held.Path() {
				t.Error("it is not the lock of the owner")
			}
			now.Add(-1)
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r.shares() {
		require.EqualValues(t, workers, most.Load())
	} else {
		require.EqualValues(t, 1, most.Load(), "forks held it together")
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
	}
	require.Len(t, w.Ephemerals("/"), r.count())
	require.NoError(t, held.Err())
	release(t, held)
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
}

func forkTimesOut(t *testing.T, w *World, r Recipe) {
	if r.shares() {
		return
	}
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	first := w.fork(r, c, held, 0).Granted()
	reason := errors.New("changed its mind")
	leavesNothing(t, w, func() {
		second, third, fourth := w.fork(r, c, held, time.Second), w.fork(r, c, held, lease.Forever), w.fork(r, c, held, lease.Forever)
		try := w.fork(r, c, held, 0)
		require.False(t, try.Waiting())
		var timeout *lease.TimeoutError
		require.ErrorAs(t, try.Failed(), &timeout)
		require.Equal(t, 4, timeout.Ahead)
		require.ErrorIs(t, timeout, lease.ErrTimeout)
		third.Cancel(reason)
		w.After(2 * time.Second)
		require.ErrorIs(t, third.Failed(), reason)
		require.ErrorAs(t, second.Failed(), &timeout)
		require.Equal(t, 1, timeout.Ahead)
		require.Equal(t, time.Second, timeout.Waited)
		require.True(t, fourth.Waiting())
		require.NoError(t, first.Release())
		w.Settle()
		require.NoError(t, fourth.Granted().Release(), "a fork that left keeps no other waiting")
	})
	release(t, w.fork(r, c, held, 0).Granted(), held)
}

func forksKeepTheSlot(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	var attempts []*Attempt
	for range 3 { // which go on when the first lease is released
		attempts = append(attempts, w.StartWith(lease.Fork(context.WithoutCancel(held.Context())), r.New(c, path), lease.Forever))
	}
	release(t, held)
	for _, at := range attempts {
		w.After(time.Second)
		require.NoError(t, at.Granted().Err())
		if excluded := r.excluded(w.Client("b")); excluded != nil {
			require.ErrorIs(t, w.Start(excluded, 0).Failed(), lease.ErrTimeout)
		}
		release(t, at.Granted())
		require.Error(t, at.Granted().Context().Err())
	}
	w.Settle()
	require.Empty(t, w.Ephemerals("/"), "the last fork has freed the slot")
	_, err := r.New(c, path).Acquire(lease.Fork(held.Context()), 0)
	require.ErrorIs(t, err, lease.ErrReleased, "its context has ended")
	release(t, w.Acquire(r.New(c, path)))
}

func forksAreLost(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	ctx := context.WithoutCancel(held.Context())
	var all []*Attempt
	for range 3 {
		all = append(all, w.StartWith(lease.Fork(ctx), r.New(c, path), lease.Forever))
	}
	w.Expire(c)
	w.After(time.Second)
	for i, at := range all {
		if i == 0 || r.shares() {
			require.ErrorIs(t, at.Granted().Release(), lease.ErrLost)
			continue
		}
		require.False(t, at.Waiting())
		require.ErrorIs(t, at.Failed(), lease.ErrLost)
		require.ErrorIs(t, at.Failed(), framework.ErrSessionLost)
	}
	_, err := r.New(c, path).Acquire(lease.Fork(ctx), time.Minute)
	require.ErrorIs(t, err, lease.ErrLost)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
}

func forkOnAnotherPath(t *testing.T, w *World, r Recipe) {
	const elsewhere = "/conformance/elsewhere"
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	first := w.StartWith(lease.Fork(held.Context()), r.New(c, elsewhere), 0).Granted()
	second := w.StartWith(lease.Fork(held.Context()), r.New(c, elsewhere), 0)
	if r.shares() {
		require.NotEqual(t, first.Path(), second.Granted().Path(), "it has its own slot")
		release(t, second.Granted())
	} else {
		require.ErrorIs(t, second.Failed(), lease.ErrTimeout)
	}
	below := w.StartWith(lease.Fork(first.Context()), r.New(c, elsewhere), 0).Granted()
	require.Equal(t, first.Path(), below.Path())
	release(t, below, first, held)
}

func forkWithoutLease(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	require.Equal(t, t.Context(), lease.Fork(t.Context()))
	held := w.Acquire(r.New(c, path))
	if excluded := r.excluded(c); excluded != nil {
		at := w.StartWith(lease.Fork(lease.WithoutOwner(held.Context())), excluded, 0)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	}
	release(t, held)
}

func forkOfAFork(t *testing.T, w *World, r Recipe) {
	if r.shares() {
		return
	}
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	first := w.fork(r, c, held, 0).Granted()
	second := w.fork(r, c, held, lease.Forever)
	below := []*Attempt{w.fork(r, c, first, lease.Forever), w.fork(r, c, first, lease.Forever)}
	// A fork of a fork that holds no lease waits with the forks of the lease.
	sibling := w.StartWith(lease.Fork(lease.Fork(held.Context())), r.New(c, path), lease.Forever)
	require.False(t, below[0].Waiting())
	require.True(t, below[1].Waiting())
	require.NoError(t, below[0].Granted().Release())
	w.Settle()
	require.False(t, below[1].Waiting())
	release(t, below[1].Granted())
	w.Settle()
	require.True(t, second.Waiting())
	release(t, first)
	w.Settle()
	require.True(t, sibling.Waiting())
	release(t, second.Granted())
	w.Settle()
	release(t, sibling.Granted(), held)
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
}

func forkReEnters(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	outer := w.fork(r, c, held, 0).Granted()
	waits := w.fork(r, c, held, lease.Forever)
	inner := w.StartWith(outer.Context(), r.New(c, path), 0).Granted()
	above := w.StartWith(held.Context(), r.New(c, path), 0).Granted() // the owner of the first lease re-enters at once
	release(t, above, outer)
	w.Settle()
	require.Equal(t, !r.shares(), waits.Waiting(), "the fork has another lease")
	release(t, inner)
	w.Settle()
	release(t, waits.Granted(), held)
}
