package multilock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Tokens, and the znode at Path, are in the order in which the locks were given.
func TestTokensOfALease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, paths := range [][]string{{cart, stock}, {stock, cart}, {stock, "/locks/more", cart}} {
			var locks []lease.Acquirer
			for _, path := range paths {
				locks = append(locks, newMutex(t, c, path))
			}
			held := w.Acquire(lockOn(t, locks))
			require.Zero(t, held.Token())
			var want []lease.Token
			for _, path := range paths {
				info, ok := w.Server.Node(w.Ephemerals(path)[0])
				require.True(t, ok)
				want = append(want, lease.Token(info.Czxid))
			}
			require.Equal(t, want, held.Tokens())
			require.Equal(t, w.Ephemerals(paths[0])[0], held.Path())
			require.NoError(t, held.Release())
			require.Equal(t, want, held.Tokens())
		}
		single := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, c, cart)}))
		require.NotZero(t, single.Token())
		require.Equal(t, []lease.Token{single.Token()}, single.Tokens())
		require.NoError(t, single.Release())
	})
}

// A transaction with Check has no effect when a znode at any of the locks is gone, even
// if the holder does not know that.
func TestCheckCoversAllLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, operator := w.Client("a"), w.Client("operator")
		write := func(held *lease.Lease) error {
			_, err := c.Multi(t.Context(), held.Check(), framework.CreateOp("/written-", nil, framework.PersistentSequential))
			return err
		}
		for _, path := range []string{cart, stock} {
			held := w.Acquire(both(t, c))
			require.NoError(t, write(held))
			w.After(time.Second)
			w.Server.SetFaults(func(call zktest.Call) zktest.Action {
				if call.Client == "a" && call.Phase == zktest.PhaseEvent {
					return zktest.DropReply
				}
				return zktest.Pass
			})
			w.Remove(operator, w.Ephemerals(path)[0])
			require.NoError(t, held.Err(), "it does not know yet")
			var multi *framework.MultiError
			err := write(held)
			require.ErrorIs(t, err, framework.ErrNoNode)
			require.ErrorAs(t, err, &multi)
			require.Zero(t, multi.Index)
			require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrLost, "that asks for all as well")
			w.Server.SetFaults(nil)
			require.ErrorIs(t, held.Release(), lease.ErrLost)
			w.Settle()
		}
		held := w.Acquire(both(t, c))
		require.NoError(t, held.Release())
		w.Server.ResetCounts()
		require.ErrorIs(t, write(held), framework.ErrNoNode)
		require.Zero(t, w.Server.Count(zktest.OpMulti), "it is refused here")
	})
}

// No transaction covers the locks of several clients.
func TestCheckOfSeveralClients(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, a, cart), newMutex(t, b, stock)}))
		require.NoError(t, held.Confirm(t.Context()))
		for _, c := range []*framework.Client{a, b} {
			_, err := c.Multi(t.Context(), held.Check())
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		require.NoError(t, held.Release())
	})
}

// A request for the revocation of any of the locks is one for the lease.
func TestRevocationOfAnyOfTheLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, operator := w.Client("a"), w.Client("operator")
		for _, path := range []string{cart, stock} {
			held := w.Acquire(both(t, c))
			w.After(time.Second)
			require.False(t, conformance.Closed(held.RevocationRequested()))
			require.NoError(t, lease.RequestRevocation(t.Context(), operator, w.Ephemerals(path)[0]))
			w.Settle()
			require.True(t, conformance.Closed(held.RevocationRequested()))
			require.NoError(t, held.Err())
			require.NoError(t, held.Release())
		}
	})
}

// A release that fails at one lock releases the others all the same.
func TestReleaseIsRefusedAtOneOfTheLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(both(t, c))
		refusing := w.Server.On(zktest.OpDelete, cart).Always().Fail(zktest.NoAuth)
		require.ErrorIs(t, held.Release(), framework.ErrNoAuth)
		require.ErrorIs(t, held.Release(), lease.ErrReleased)
		require.Empty(t, w.Ephemerals(stock))
		require.Len(t, w.Ephemerals(cart), 1)
		refusing.Remove()
	})
}

// A release takes no longer than that of one lock, however many there are.
func TestReleaseWithoutAnAnswer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(both(t, c))
		w.Server.Stall("a", true)
		began := time.Now()
		require.NoError(t, held.Release())
		require.LessOrEqual(t, time.Since(began), conformance.SessionTimeout/3)
		require.ErrorIs(t, context.Cause(held.Context()), lease.ErrReleased)
		w.Server.Stall("a", false)
		w.After(conformance.SessionTimeout)
		require.Empty(t, w.Ephemerals("/"))
	})
}

// The end of the caller's context does not end the lease, and that of a wait leaves
// nothing.
func TestContextOfTheCaller(t *testing.T) {
	errEnough := errors.New("enough")
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		at := w.Start(both(t, c), time.Minute)
		held := at.Granted()
		at.Cancel(errEnough)
		require.ErrorIs(t, context.Cause(held.Context()), errEnough)
		require.False(t, conformance.Closed(held.Done()))
		require.NoError(t, held.Err())
		require.NoError(t, held.Release())
		require.True(t, conformance.Closed(held.Done()))

		for _, path := range []string{cart, stock} {
			blocking := w.Acquire(newMutex(t, other, path))
			at := w.Start(both(t, c), time.Minute)
			w.After(300 * time.Millisecond)
			at.Cancel(errEnough)
			require.ErrorIs(t, at.Failed(), errEnough)
			require.NotErrorIs(t, at.Err, lease.ErrTimeout)
			w.Settle()
			require.Len(t, w.Ephemerals("/"), 1, "nothing is left of the wait")
			require.NoError(t, blocking.Release())
		}
	})
}

// A confirmation that knows of a loss does not wait for the servers of another client.
func TestConfirmKnowsOfALoss(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, operator := w.Client("a"), w.Client("b"), w.Client("operator")
		held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, a, cart), newMutex(t, b, stock)}))
		w.After(time.Second)
		w.Server.SetFaults(func(call zktest.Call) zktest.Action {
			if call.Client == "a" && call.Phase == zktest.PhaseEvent {
				return zktest.DropReply
			}
			return zktest.Pass
		})
		w.Server.Stall("b", true)
		w.Remove(operator, w.Ephemerals(cart)[0])
		began := time.Now()
		require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrDeleted)
		require.Less(t, time.Since(began), 100*time.Millisecond)
		w.Server.Stall("b", false)
		require.ErrorIs(t, held.Release(), lease.ErrDeleted)
	})
}
