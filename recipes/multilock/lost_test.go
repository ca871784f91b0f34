package multilock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// windDown is how long work under a lost lease has to end.
const windDown = conformance.SessionTimeout / 6

// If the znode at one of the locks is deleted the lease is lost. The other lock stays
// taken for a moment, or until the lease is released.
func TestOneOfTheLocksIsLost(t *testing.T) {
	for _, lost := range []string{cart, stock} {
		for _, releases := range []bool{false, true} {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				operator, c, other := w.Client("operator"), w.Client("a"), w.Client("other")
				held := w.Acquire(both(t, c))
				w.After(time.Second)
				rest := strings.ReplaceAll(cart+stock, lost, "")
				next := w.Start(newMutex(t, other, rest), lease.Forever)
				w.Remove(operator, w.Ephemerals(lost)[0])
				w.Settle()

				require.True(t, conformance.Closed(held.Done()))
				loss := &lease.LossError{}
				for _, err := range []error{held.Err(), context.Cause(held.Context())} {
					require.ErrorAs(t, err, &loss)
					require.ErrorIs(t, err, lease.ErrDeleted)
					require.Contains(t, loss.Path, lost+"/", "it names the lock that was lost")
				}
				w.After(windDown - 10*time.Millisecond)
				require.True(t, next.Waiting(), "work has a moment to stop")
				if releases {
					require.ErrorIs(t, held.Release(), lease.ErrDeleted)
					require.ErrorIs(t, held.Err(), lease.ErrReleased)
				} else {
					w.After(20 * time.Millisecond)
				}
				w.Settle()
				require.NoError(t, next.Granted().Release())
				w.Settle()
				require.Empty(t, w.Ephemerals("/"), "also without a release")
			})
		}
	}
}

// The first maximum hold time ends the lease.
func TestMaxHoldOfOneOfTheLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, c, cart), newMutex(t, c, stock, mutex.WithMaxHold(time.Second))}))
		require.LessOrEqual(t, time.Until(held.TrustedUntil()), time.Second)
		w.After(time.Second)
		require.ErrorIs(t, held.Err(), lease.ErrMaxHold)
		w.After(windDown + 10*time.Millisecond)
		require.Empty(t, w.Ephemerals("/"))
		require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
	})
}

// The end of the session of one of two clients ends the lease. What the other client
// holds is released.
func TestSessionOfOneOfTheClientsEnds(t *testing.T) {
	for _, ending := range []string{"a", "b"} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			clients := map[string]*framework.Client{"a": w.Client("a"), "b": w.Client("b")}
			held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, clients["a"], cart), newMutex(t, clients["b"], stock)}))
			w.Server.Partition(ending, true)
			w.After(conformance.SessionTimeout)
			require.ErrorIs(t, held.Err(), framework.ErrSessionLost)
			require.ErrorIs(t, context.Cause(held.Context()), framework.ErrSessionLost)
			w.After(conformance.SessionTimeout)
			require.Empty(t, w.Ephemerals("/"))
			require.ErrorIs(t, held.Release(), framework.ErrSessionLost)
			w.Server.Partition(ending, false)
		})
	}
}

// A client that closes gives work under a lease the time that CloseGrace says, also at
// the other locks of the lease.
func TestOneOfTheClientsIsClosed(t *testing.T) {
	const grace = conformance.SessionTimeout / 2
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.CloseGrace = grace })
		held := w.Acquire(both(t, c))
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_ = c.Close()
		}()
		w.Settle()
		require.ErrorIs(t, held.Err(), framework.ErrClosed)
		require.ErrorIs(t, context.Cause(held.Context()), framework.ErrClosed)
		w.After(grace - 10*time.Millisecond)
		require.Len(t, w.Ephemerals("/"), 2, "the work goes on")
		require.ErrorIs(t, held.Release(), framework.ErrClosed)
		<-closed
		require.Empty(t, w.Ephemerals("/"))
	})
}

// A lock that is lost before all are held is acquired again, within the same timeout.
func TestLockIsLostBeforeAllAreHeld(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator, c, other := w.Client("operator"), w.Client("a"), w.Client("other")
		blocking := w.Acquire(newMutex(t, other, stock))
		at := w.Start(both(t, c, unlimited), time.Minute)
		for range 3 {
			w.After(time.Second)
			w.Remove(operator, w.Ephemerals(cart)[0])
			w.After(time.Second)
			require.Len(t, w.Ephemerals(cart), 1)
			require.True(t, at.Waiting())
		}
		w.Expire(c)
		w.After(time.Second)
		require.NoError(t, blocking.Release())
		require.NoError(t, at.Granted().Release())
		require.Less(t, at.Took, 10*time.Second)

		blocking = w.Acquire(newMutex(t, other, stock))
		brief := lockOn(t, []lease.Acquirer{newMutex(t, c, cart, mutex.WithMaxHold(time.Second)), newMutex(t, c, stock)}, unlimited)
		at = w.Start(brief, 5*time.Second)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.NotErrorIs(t, at.Err, lease.ErrLost, "the caller has lost nothing")
		late := &lease.TimeoutError{}
		require.ErrorAs(t, at.Err, &late)
		require.Equal(t, 5*time.Second, late.Waited.Round(10*time.Millisecond))
		require.NoError(t, blocking.Release())
	})
}
