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

// forks are the tests of what goroutines do that work under one lease, each with a fork
// of its context.
var forks = rows{
	"forks are admitted in order":           forksTakeTurns,
	"a fork that times out":                 forkInVain,
	"forks keep the slot held":              forksKeepTheHold,
	"forks of a lost lease":                 forksAreLost,
	"a fork on another path is a new owner": forkElsewhere,
	"a fork without a lease is a new owner": forkOfNothing,
	"forks of a fork are admitted in order": forkOfAFork,
	"a fork re-enters its own lease":        forkReEnters,
}

// shares tells whether the forks of one owner may be inside together.
func (r Recipe) shares() bool { return r.Places == 0 }

// fork starts an acquire of the recipe with a fork of a lease's context.
func (w *World) fork(r Recipe, c *framework.Client, held *lease.Lease, timeout time.Duration) *Attempt {
	return w.StartWith(lease.Fork(held.Context()), r.New(c, path), timeout)
}

func forksTakeTurns(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	w.Server.ResetCounts()
	const workers = 5
	var inside, most atomic.Int32
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
			most.Store(max(most.Load(), inside.Add(1)))
			if !r.shares() {
				order = append(order, i)
			}
			pass(time.Second)
			if l.Token() != held.Token() || l.Path() != held.Path() {
				t.Error("it is not the place of the owner")
			}
			inside.Add(-1)
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r.shares() {
		require.EqualValues(t, workers, most.Load())
	} else {
		require.EqualValues(t, 1, most.Load(), "forks inside together")
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
	}
	require.Len(t, w.Ephemerals("/"), 1)
	require.NoError(t, held.Err())
	release(t, held)
	require.Empty(t, w.Ephemerals("/"))
}

func forkInVain(t *testing.T, w *World, r Recipe) {
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
		require.NoError(t, fourth.Granted().Release(), "who left keeps nobody waiting")
	})
	release(t, w.fork(r, c, held, 0).Granted(), held)
}

func forksKeepTheHold(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	var inside []*Attempt
	for range 3 { // who works on when the lease above has gone
		inside = append(inside, w.StartWith(lease.Fork(context.WithoutCancel(held.Context())), r.New(c, path), lease.Forever))
	}
	release(t, held)
	for _, at := range inside {
		w.After(time.Second)
		require.NoError(t, at.Granted().Err())
		if stranger := r.excluded(w.Client("b")); stranger != nil {
			require.ErrorIs(t, w.Start(stranger, 0).Failed(), lease.ErrTimeout)
		}
		release(t, at.Granted())
		require.Error(t, at.Granted().Context().Err())
	}
	require.Empty(t, w.Ephemerals("/"), "the last fork has given the place up")
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

func forkElsewhere(t *testing.T, w *World, r Recipe) {
	const elsewhere = "/conformance/elsewhere"
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	first := w.StartWith(lease.Fork(held.Context()), r.New(c, elsewhere), 0).Granted()
	second := w.StartWith(lease.Fork(held.Context()), r.New(c, elsewhere), 0)
	if r.shares() {
		require.NotEqual(t, first.Path(), second.Granted().Path(), "a place of its own")
		release(t, second.Granted())
	} else {
		require.ErrorIs(t, second.Failed(), lease.ErrTimeout)
	}
	below := w.StartWith(lease.Fork(first.Context()), r.New(c, elsewhere), 0).Granted()
	require.Equal(t, first.Path(), below.Path())
	release(t, below, first, held)
}

func forkOfNothing(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	require.Equal(t, t.Context(), lease.Fork(t.Context()))
	held := w.Acquire(r.New(c, path))
	if stranger := r.excluded(c); stranger != nil {
		at := w.StartWith(lease.Fork(lease.WithoutOwner(held.Context())), stranger, 0)
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
	// A fork of a context that has no turn of its own waits among those of its lease.
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
	require.Empty(t, w.Ephemerals("/"))
}

func forkReEnters(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	outer := w.fork(r, c, held, 0).Granted()
	waits := w.fork(r, c, held, lease.Forever)
	inner := w.StartWith(outer.Context(), r.New(c, path), 0).Granted()
	above := w.StartWith(held.Context(), r.New(c, path), 0).Granted() // the owner above is not kept out
	release(t, above, outer)
	w.Settle()
	require.Equal(t, !r.shares(), waits.Waiting(), "the fork has another lease")
	release(t, inner)
	w.Settle()
	release(t, waits.Granted(), held)
}
