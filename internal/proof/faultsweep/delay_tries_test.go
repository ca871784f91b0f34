package faultsweep

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// A multi-lock loses a lock with a lock-delay while it waits for another one. No caller
// has got a lease, so no work has to come to its end: the lock is not closed.
func TestLockThatIsLostBeforeAllAreHeldIsNotClosed(t *testing.T) {
	for name, end := range map[string]func(w *conformance.World){
		"deleted": func(w *conformance.World) { w.Remove(w.Client("operator"), w.Ephemerals(path)[0]) },
		"expired": func(w *conformance.World) { w.Expire(w.Known("a")) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c := w.Client("a")
				other := w.Acquire(must(mutex.New(w.Client("b"), second)))
				both := must(multilock.New([]lease.Acquirer{delayedBy(delay, c), must(mutex.New(c, second))}))
				waiting := w.Start(both, time.Minute)
				w.After(100 * time.Millisecond)
				require.Len(t, records(w, path), 1)
				end(w)
				w.After(100 * time.Millisecond)
				require.LessOrEqual(t, len(records(w, path)), 1, "that of the next try only")
				require.NoError(t, other.Release())
				require.NoError(t, waiting.Granted().Release())
				require.Less(t, waiting.Took, delay)
				w.Settle()
				require.Empty(t, records(w, path))
			})
		})
	}
}

// A lateLock returns only when it is told to.
type lateLock struct {
	lease.Acquirer
	returns chan struct{}
}

func (l lateLock) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, err := l.Acquirer.Acquire(ctx, timeout)
	if timeout > 0 {
		<-l.returns
	}
	return held, err
}

// The same with a lock that the caller has anyway: work under that lease may go on,
// also if the try of the multi-lock is the last that lets the lock go.
func TestLockThatIsLostBeforeAllAreHeldIsClosedIfTheCallerHasIt(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		w.Acquire(must(mutex.New(w.Client("b"), second)))
		m, late := delayedBy(delay, c), lateLock{must(mutex.New(c, second)), make(chan struct{})}
		held := w.Acquire(m)
		trying := w.StartWith(held.Context(), must(multilock.New([]lease.Acquirer{m, late})), time.Minute)
		w.After(100 * time.Millisecond)
		w.Remove(w.Client("operator"), held.Path())
		w.Settle()
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		close(late.returns)
		require.Error(t, trying.Failed())
		w.After(time.Second)
		require.Len(t, records(w, path), 1)
		next := w.Start(delayedBy(delay, w.Client("next")), time.Minute)
		next.Granted()
		require.Greater(t, next.Took, delay/2)
	})
}

// A multi-lock whose lease is lost gives up a lock with a lock-delay, and then another
// try, under that lease, lets it go last. The caller has released nothing, so work may
// go on, whether the lock is lost by then or not.
func TestLockThatIsGivenUpIsClosedIfATryLetsItGoLast(t *testing.T) {
	for name, alsoLost := range map[string]bool{"held": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				c, third := w.Client("a"), "/sweep/third"
				w.Acquire(must(mutex.New(w.Client("b"), third)))
				m, late := delayedBy(delay, c), lateLock{must(mutex.New(c, third)), make(chan struct{})}
				both := w.Acquire(must(multilock.New([]lease.Acquirer{m, must(mutex.New(c, second))})))
				trying := w.StartWith(both.Context(), must(multilock.New([]lease.Acquirer{m, late})), time.Minute)
				w.After(100 * time.Millisecond)
				w.Remove(w.Client("operator"), w.Ephemerals(second)[0])
				w.After(2 * time.Second)
				if alsoLost {
					w.Remove(w.Client("operator"), w.Ephemerals(path)[0])
					w.After(100 * time.Millisecond)
				}
				close(late.returns)
				require.Error(t, trying.Failed())
				w.After(time.Second)
				require.Empty(t, w.Ephemerals(path))
				require.Len(t, records(w, path), 1)
				require.ErrorIs(t, both.Release(), lease.ErrLost)
			})
		})
	}
}

// The client of a multi-lock that waits is closed, and has the time to say that no work
// has begun.
func TestCloseBeforeAllAreHeldClosesNoLock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.CloseGrace = time.Second })
		w.Acquire(must(mutex.New(w.Client("b"), second)))
		waiting := w.Start(must(multilock.New([]lease.Acquirer{delayedBy(delay, c), must(mutex.New(c, second))})), time.Minute)
		w.After(100 * time.Millisecond)
		require.Len(t, records(w, path), 1)
		require.NoError(t, c.Close())
		require.ErrorIs(t, waiting.Failed(), framework.ErrClosed)
		require.Empty(t, records(w, path))
	})
}
