package multilock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// idleThenAttached has a session be idle for so long that nothing may rely on it before
// two round trips on its next connection, and attaches that.
func idleThenAttached(w *conformance.World) {
	w.After(20 * time.Second)
	w.Server.DropConnections("a")
	w.After(300 * time.Millisecond)
}

// The timeout also bounds the wait for round trips, as it does for a single lock.
func TestTimeoutBoundsTheWaitForRoundTrips(t *testing.T) {
	for name, locks := range map[string][]string{"single": {cart}, "multi": {cart, stock}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				var all []lease.Acquirer
				for _, path := range locks {
					all = append(all, newMutex(t, a, path))
				}
				require.NoError(t, w.Acquire(both(t, a)).Release())
				idleThenAttached(w)
				at := w.Start(lockOn(t, all), 50*time.Millisecond)
				<-at.Done()
				if at.Lease != nil {
					require.NoError(t, at.Lease.Release())
				}
				require.Less(t, at.Took, 200*time.Millisecond)
			})
		})
	}
}

// A node that is deleted while round trips are awaited makes no lease, not even for
// a moment.
func TestNodeIsDeletedWhileRoundTripsAreAwaited(t *testing.T) {
	for name, locks := range map[string][]string{"single": {cart}, "first": {cart, stock}, "second": {"/locks/a", cart}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, operator, other := w.Client("a"), w.Client("operator"), w.Client("other")
				var all []lease.Acquirer
				for _, path := range locks {
					all = append(all, newMutex(t, a, path))
				}
				require.NoError(t, w.Acquire(lockOn(t, all)).Release())
				idleThenAttached(w)
				at := w.Start(lockOn(t, all), time.Minute)
				w.After(500 * time.Millisecond)
				require.True(t, at.Waiting())
				w.Remove(operator, w.Ephemerals(cart)[0])
				next := w.Start(newMutex(t, other, cart), time.Minute).Granted()
				overlap := make(chan bool, 1)
				go func() {
					<-at.Done()
					overlap <- at.Lease.Err() == nil && next.Err() == nil
				}()
				w.After(3 * time.Second)
				_ = next.Release()
				require.False(t, <-overlap, "two valid leases")
				require.NoError(t, at.Granted().Release())
			})
		})
	}
}

// The part of a session that is kept free for downgrades stays free.
func TestSparedPartStaysFree(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(c *framework.Config) { c.MaxEphemeralBytes, c.Sessions = 1000, 2 })
		rw, err := rwlock.New(a, "/locks/00")
		require.NoError(t, err)
		all := []lease.Acquirer{rw.Write()}
		for i := range 13 {
			all = append(all, newMutex(t, a, "/locks/"+string(rune('a'+i))+"0"))
		}
		l := lockOn(t, all, unlimited)
		for range 2 { // the first makes the parents
			held := w.Acquire(l)
			reading, err := rw.Read().Acquire(held.Context(), time.Second)
			require.NoError(t, held.Err())
			if err == nil {
				require.NoError(t, reading.Release())
			}
			require.NoError(t, held.Release())
			require.NoError(t, err)
			w.After(time.Second)
		}
	})
}
