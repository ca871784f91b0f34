package rwlock_test

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

// Curator waits for ever there.
func TestThatUpgradingIsDisallowed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		reading := w.Acquire(l.Read())
		for _, timeout := range []time.Duration{0, time.Minute, lease.Forever} {
			require.Empty(t, w.Requests(func() {
				at := w.StartWith(reading.Context(), l.Write(), timeout)
				require.False(t, at.Waiting(), "it fails at once")
				require.ErrorIs(t, at.Failed(), rwlock.ErrUpgrade)
				require.ErrorContains(t, at.Err, "acquire "+path)
			}))
		}
		require.NoError(t, reading.Err())
		again, err := l.Read().Acquire(reading.Context(), 0)
		require.NoError(t, err)
		_, err = l.Write().Acquire(again.Context(), lease.Forever)
		require.ErrorIs(t, err, rwlock.ErrUpgrade)
		require.NoError(t, again.Release())
		require.NoError(t, reading.Release())

		_, err = l.Write().Acquire(reading.Context(), 0)
		require.ErrorIs(t, err, lease.ErrReleased, "its context has ended")
	})
}

// After the release of the read lease, its context owns nothing.
func TestWriteWithTheContextOfAReleasedReader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		reading := w.Acquire(l.Read())
		kept := context.WithoutCancel(reading.Context())
		require.NoError(t, reading.Release())
		writing, err := l.Write().Acquire(kept, 0)
		require.NoError(t, err)
		require.NoError(t, writing.Release())
	})
}

// A downgraded writer that has released the write lease is a reader like any other.
func TestUpgradeAfterADowngrade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		again, err := l.Write().Acquire(reading.Context(), 0)
		require.NoError(t, err, "the write lease is still held")
		require.Equal(t, writing.Path(), again.Path())
		require.NoError(t, again.Release())
		require.NoError(t, writing.Release())
		for range 2 {
			_, err = l.Write().Acquire(reading.Context(), lease.Forever)
			require.ErrorIs(t, err, rwlock.ErrUpgrade)
		}
		_, err = l.Write().Acquire(writing.Context(), lease.Forever)
		require.ErrorIs(t, err, lease.ErrReleased)
		require.NoError(t, reading.Release())
		require.NoError(t, w.Acquire(l.Write()).Release())
	})
}

// A context owns the lock of one client and one path.
func TestUpgradeIsByPathAndClient(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		reading := w.Acquire(newLock(t, a).Read())
		_, err := newLock(t, b).Write().Acquire(reading.Context(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout, "another client is another owner")
		_, err = newLock(t, a).Write().Acquire(lease.WithoutOwner(reading.Context()), 0)
		require.ErrorIs(t, err, lease.ErrTimeout, "another context")
		other, err := rwlock.New(a, "/locks/other")
		require.NoError(t, err)
		writing, err := other.Write().Acquire(reading.Context(), 0)
		require.NoError(t, err, "another lock")
		_, err = newLock(t, a).Write().Acquire(writing.Context(), 0)
		require.ErrorIs(t, err, rwlock.ErrUpgrade, "the first lease is still owned")
		m, err := mutex.New(a, path)
		require.NoError(t, err)
		_, err = m.Acquire(reading.Context(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout, "a reader does not re-enter a mutex")
		require.NoError(t, writing.Release())
		require.NoError(t, reading.Release())
	})
}

func TestNoDowngradeWithoutOwner(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		_, err := l.Read().Acquire(lease.WithoutOwner(writing.Context()), 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		_, err = newLock(t, w.Client("b")).Read().Acquire(writing.Context(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout, "another client is another owner")
		unowned := w.StartWith(lease.WithoutOwner(t.Context()), l.Read(), lease.Forever)
		require.True(t, unowned.Waiting())
		require.NoError(t, writing.Release())
		got := unowned.Granted()
		require.Greater(t, got.Token(), writing.Token())
		require.NoError(t, got.Release())
	})
}

// With the context of a lost lease neither lock is granted.
func TestContextOfALostLeaseGivesErrLost(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		l := newLock(t, a)
		for _, side := range "RW" {
			held := w.Acquire(sideOf(t, a, side))
			w.Expire(a)
			w.After(time.Second)
			for _, ctx := range []context.Context{held.Context(), context.WithoutCancel(held.Context())} {
				_, err := l.Read().Acquire(ctx, time.Minute)
				require.ErrorIs(t, err, lease.ErrLost)
				_, err = l.Write().Acquire(ctx, time.Minute)
				require.ErrorIs(t, err, lease.ErrLost)
			}
			require.ErrorIs(t, held.Release(), lease.ErrLost)
		}
	})
}

// If the writer's node is deleted after a downgrade, the context of the read lease
// ends, and writers are kept out until it is released.
func TestWriteLeaseIsLostAfterADowngrade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		at := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
		w.After(time.Second)
		w.Remove(w.Client("operator"), writing.Path())
		w.After(time.Second)
		require.ErrorIs(t, writing.Err(), lease.ErrDeleted)
		require.ErrorIs(t, context.Cause(reading.Context()), lease.ErrDeleted)
		require.NoError(t, reading.Err())
		require.True(t, at.Waiting())
		require.ErrorIs(t, writing.Release(), lease.ErrLost)
		require.NoError(t, reading.Release())
		require.NoError(t, at.Granted().Release())
	})
}

// The node of a downgraded reader is deleted: the read lease is lost, the write lease
// is not.
func TestDowngradedReaderIsLostWithItsNode(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		w.After(time.Second)
		w.Remove(w.Client("operator"), reading.Path())
		w.After(time.Second)
		require.ErrorIs(t, reading.Err(), lease.ErrDeleted)
		require.ErrorIs(t, reading.Confirm(t.Context()), lease.ErrLost)
		require.NoError(t, writing.Confirm(t.Context()))
		_, err = l.Read().Acquire(context.WithoutCancel(reading.Context()), 0)
		require.ErrorIs(t, err, lease.ErrLost)
		once, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, once.Release())
		require.ErrorIs(t, reading.Release(), lease.ErrLost)
		require.NoError(t, writing.Release())
	})
}

var errStopped = errors.New("stopped by the test")

// The write lease is lost while its session lives, or the caller's context ends, just
// before an answer that a downgrade waits for. The reader's node may be safe, but it is
// not granted: the caller counted on the write lease.
func TestWriteLeaseIsLostJustBeforeAnAnswer(t *testing.T) {
	const held, late = 3 * time.Second, 600 * time.Millisecond
	for name, c := range map[string]struct {
		end    func(w *conformance.World, down *conformance.Attempt)
		reason error
		lost   bool
	}{
		"held for too long": {func(*conformance.World, *conformance.Attempt) {}, lease.ErrMaxHold, true},
		"suspended":         {func(w *conformance.World, _ *conformance.Attempt) { w.Server.DropConnections("a") }, lease.ErrSuspended, true},
		"called off":        {func(_ *conformance.World, down *conformance.Attempt) { down.Cancel(errStopped) }, errStopped, false},
	} {
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2} {
			t.Run(name+", "+op.String(), func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					l := newLock(t, w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = true }), rwlock.WithMaxHold(held))
					session := w.Known("a").Session()
					writing := w.Acquire(l.Write())
					w.After(held - late/2)
					answer := w.Server.On(op, path).Client("a").After().Delay(late)
					// With a detached context, so that only the lease shows it.
					down := w.StartWith(context.WithoutCancel(writing.Context()), l.Read(), time.Minute)
					<-answer.Fired()
					require.True(t, down.Waiting())
					c.end(w, down)
					require.ErrorIs(t, down.Failed(), c.reason)
					require.Equal(t, c.lost, errors.Is(down.Err, lease.ErrLost))
					_ = writing.Release()
					w.After(conformance.SessionTimeout)
					require.Empty(t, children(w), "nodes left")
					w.Server.ResetCounts()
					w.After(3 * conformance.SessionTimeout)
					require.Zero(t, w.Server.Count(zktest.OpMulti), "no transaction")
					require.NoError(t, session.Err(), "so none was needed")
				})
			})
		}
	}
}
