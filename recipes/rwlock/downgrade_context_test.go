package rwlock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A function that downgrades works in the same way within another one that does.
func TestDowngradeWithinADowngrade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		ctx, stop := context.WithCancel(t.Context())
		outer, err := l.Write().Acquire(ctx, 0)
		require.NoError(t, err)
		read, err := l.Read().Acquire(outer.Context(), 0)
		require.NoError(t, err)

		within, stopWithin := context.WithCancel(read.Context())
		again, err := l.Write().Acquire(within, 0)
		require.NoError(t, err)
		inner, err := l.Read().Acquire(again.Context(), 0)
		require.NoError(t, err)
		require.Len(t, children(w), 2, "both were re-entered")
		require.NoError(t, again.Release())
		w.Settle()
		require.NoError(t, inner.Context().Err(), "it outlives the re-entered write lease")
		stopWithin()
		w.Settle()
		require.ErrorIs(t, inner.Context().Err(), context.Canceled, "but not the context that it derives from")
		require.NoError(t, inner.Err())
		require.NoError(t, inner.Release())

		require.NoError(t, outer.Release())
		w.Settle()
		require.NoError(t, read.Context().Err())
		stop()
		w.Settle()
		require.ErrorIs(t, read.Context().Err(), context.Canceled)
		require.NoError(t, read.Release())
	})
}

// The context of the read lease has the values of that of the write lease.
func TestContextOfADowngradedReader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		type key struct{}
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Minute)
		defer cancel()
		writing, err := l.Write().Acquire(ctx, 0)
		require.NoError(t, err)
		detached, err := l.Read().Acquire(context.WithoutCancel(writing.Context()), 0)
		require.NoError(t, err)
		reading := downgrade(t, l, writing)
		w.Settle()
		require.NoError(t, reading.Context().Err())
		require.Equal(t, "value", reading.Context().Value(key{}))
		ends, ok := reading.Context().Deadline()
		require.True(t, ok)
		require.Equal(t, time.Minute, time.Until(ends).Round(time.Minute))
		w.After(time.Minute)
		require.ErrorIs(t, reading.Context().Err(), context.DeadlineExceeded)
		require.NoError(t, detached.Context().Err())
		require.NoError(t, reading.Err(), "the end of the context does not release")
		require.NoError(t, detached.Release())
		require.NoError(t, reading.Release())
	})
}

// counting is a context that never ends and counts the functions that wait for its end.
type counting struct {
	context.Context
	done chan struct{}
	n    *atomic.Int64
}

func (c counting) Done() <-chan struct{} { return c.done }

func (c counting) AfterFunc(func()) func() bool {
	c.n.Add(1)
	return sync.OnceValue(func() bool {
		c.n.Add(-1)
		return true
	})
}

// However a downgrade ends, it leaves nothing registered in the caller's context.
func TestDowngradeLeavesNothingInTheContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(cfg *framework.Config) { cfg.Observers = nil }) // which would wrap the context
		l := newLock(t, a)
		ctx := counting{context.WithoutCancel(t.Context()), make(chan struct{}), new(atomic.Int64)}
		empty := func() {
			t.Helper()
			w.Settle()
			require.Zero(t, ctx.n.Load())
		}
		acquire := func(a lease.Acquirer, ctx context.Context) *lease.Lease {
			got, err := a.Acquire(ctx, time.Minute)
			require.NoError(t, err)
			return got
		}
		for range 3 {
			writing := acquire(l.Write(), ctx)
			reading := acquire(l.Read(), writing.Context())
			require.Positive(t, ctx.n.Load())
			again := acquire(l.Write(), reading.Context())
			inner := acquire(l.Read(), again.Context())
			for _, held := range []*lease.Lease{again, inner, writing, reading} {
				require.NoError(t, held.Release())
			}
			empty()

			writing = acquire(l.Write(), ctx)
			reading = acquire(l.Read(), writing.Context())
			w.Expire(a)
			w.After(time.Second)
			empty()
			require.ErrorIs(t, reading.Release(), lease.ErrLost)
			require.ErrorIs(t, writing.Release(), lease.ErrLost)

			writing = acquire(l.Write(), ctx)
			w.Server.On(zktest.OpGetChildren2, path).Fail(zktest.NoAuth)
			_, err := l.Read().Acquire(writing.Context(), time.Minute)
			require.ErrorIs(t, err, framework.ErrNoAuth)
			require.NoError(t, writing.Release())
			empty()
		}
	})
}

// A downgrade fails as soon as the write lease is lost, not when a server is reached
// again, also if its context has not ended with the lease.
func TestDowngradeFailsWithTheLossWhileDisconnected(t *testing.T) {
	for _, timeout := range []time.Duration{time.Hour, lease.Forever} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			l := newLock(t, w.Client("a"))
			writing := w.Acquire(l.Write())
			w.Server.Partition("a", true)
			w.Server.ResetCounts()
			w.After(time.Second)
			at := w.StartWith(context.WithoutCancel(writing.Context()), l.Read(), timeout)
			w.After(2 * conformance.SessionTimeout)
			require.ErrorIs(t, at.Failed(), lease.ErrLost)
			require.Less(t, at.Took, conformance.SessionTimeout)
			require.Zero(t, w.Server.CountOf("a", zktest.OpCreate))
		})
	}
}
