package multilock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// One of the two clients of a multi-lock is closed at each moment of an Acquire that
// finds both locks free, or has to wait for one of them. The Acquire ends, no other has
// a lock that it has, and nothing is left that keeps others from the locks.
func TestOneOfTwoClientsIsClosedAtEachMoment(t *testing.T) {
	for _, grace := range []time.Duration{0, conformance.SessionTimeout / 2, 2 * conformance.SessionTimeout} {
		for _, closing := range []string{"a", "b"} {
			for _, phase := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply, zktest.PhaseEvent} {
				for _, taken := range []string{"", cart, stock} {
					moments := int32(0)
					for closesAt(t, closing, moment{phase, moments + 1}, taken, grace) {
						moments++
					}
					if taken != "" {
						require.GreaterOrEqual(t, moments, int32(1))
					}
				}
			}
		}
	}
}

// A moment is that of the nth call of two clients in a phase.
type moment struct {
	phase zktest.Phase
	n     int32
}

// closesAt has a client be closed at a moment of an Acquire, and reports whether that
// moment came.
func closesAt(t *testing.T, closing string, at moment, taken string, grace time.Duration) (came bool) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		gives := func(cfg *framework.Config) { cfg.CloseGrace = grace }
		clients := map[string]*framework.Client{"a": w.Client("a", gives), "b": w.Client("b", gives)}
		other := w.Client("other")
		l := lockOn(t, []lease.Acquirer{newMutex(t, clients["a"], cart), newMutex(t, clients["b"], stock)})
		require.NoError(t, w.Acquire(l).Release())
		w.Settle()
		var holder *lease.Lease
		if taken != "" {
			holder = w.Acquire(newMutex(t, other, taken))
		}
		closed := make(chan error, 1)
		calls := atomic.Int32{} // events and requests are not one after the other
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			ours := clients[c.Client] != nil && c.Phase == at.phase && c.Op != zktest.OpPing && c.Op != zktest.OpSync
			if ours && calls.Add(1) == at.n {
				go func() { closed <- clients[closing].Close() }()
			}
			return zktest.Pass
		})
		first, next := w.Start(l, lease.Forever), w.Start(both(t, other), lease.Forever)
		if holder != nil {
			w.After(300 * time.Millisecond)
			require.NoError(t, holder.Release())
		}
		w.After(2 * time.Second) // longer than a wait limit
		w.Server.SetFaults(nil)
		came = calls.Load() >= at.n
		if !first.Waiting() && first.Err == nil {
			require.True(t, next.Waiting() || first.Lease.Err() != nil, "both hold the locks")
			err := first.Lease.Release()
			require.True(t, came || err == nil, "%v", err)
		}
		w.After(conformance.SessionTimeout)
		require.False(t, first.Waiting(), "%s is closed at %v", closing, at)
		if came {
			require.NoError(t, <-closed)
		}
		w.After(conformance.SessionTimeout)
		require.False(t, next.Waiting(), "%s is closed at %v: %v", closing, at, w.Ephemerals("/"))
		require.NoError(t, next.Granted().Release())
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
	return came && !t.Failed()
}

// A client is closed whose lock is not the one that an Acquire waits for. So it could
// not be acquired after the wait: the Acquire ends at once.
func TestClientOfAnotherLockIsClosed(t *testing.T) {
	for _, grace := range []time.Duration{0, conformance.SessionTimeout} {
		for taken, closing := range map[string]string{cart: "b", stock: "a"} {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				gives := func(cfg *framework.Config) { cfg.CloseGrace = grace }
				clients := map[string]*framework.Client{"a": w.Client("a", gives), "b": w.Client("b", gives)}
				other := w.Client("other")
				holder := w.Acquire(newMutex(t, other, taken))
				l := lockOn(t, []lease.Acquirer{newMutex(t, clients["a"], cart), newMutex(t, clients["b"], stock)})
				first := w.Start(l, lease.Forever)
				w.After(20 * time.Second) // it waits for the one that is taken, and holds nothing at times
				require.True(t, first.Waiting())
				closed := make(chan error, 1)
				go func() { closed <- clients[closing].Close() }()
				w.After(conformance.SessionTimeout / 6)
				require.ErrorIs(t, first.Failed(), framework.ErrClosed)
				require.NoError(t, <-closed)
				require.Equal(t, []string{holder.Path()}, w.Ephemerals("/"))
				require.ErrorIs(t, w.Start(l, lease.Forever).Failed(), framework.ErrClosed)
				require.NoError(t, holder.Release())
				w.Settle()
				require.Empty(t, w.Ephemerals("/"))
			})
		}
	}
}

// A context that goes on after its lease, when one of the two clients is closed: the
// lock of the other one can be had with it.
func TestContextOfALeaseWhoseClientIsClosedLater(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, a, cart), newMutex(t, b, stock)}))
		ctx := context.WithoutCancel(held.Context())
		require.NoError(t, held.Release())
		require.NoError(t, b.Close())
		again, err := newMutex(t, a, cart).Acquire(ctx, time.Second)
		require.NoError(t, err)
		require.NoError(t, again.Release())
	})
}
