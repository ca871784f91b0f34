package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Resize whose context ends while the change is under way hands no stripe over to a
// waiter that has the old number: the change may be carried out behind that.
func TestResizeGivenUpHandsOverNoOldStripe(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		old := newLocks(t, a, 1)
		held := w.Acquire(old.For("key"))
		changing := resize(t, old, 2)
		w.Settle()
		next := w.Start(old.For("key"), lease.Forever)
		w.After(50 * time.Millisecond)
		w.Server.On(zktest.OpMulti, path).Client("a").Before().Delay(200 * time.Millisecond)
		require.NoError(t, held.Release())
		w.After(50 * time.Millisecond)
		changing.cancel()
		<-changing.done
		require.ErrorIs(t, changing.err, framework.ErrUnknownOutcome)
		w.After(time.Second)
		requireOneHolder(t, w, next, b)
	})
}

// A Resize whose stripe is of a further session hands it over to no waiter of that
// session, which may not know of the change yet.
func TestResizeHandsOverNoOldStripeOfAFurtherSession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a", func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 500 }), w.Client("b")
		old := newLocks(t, a, 1)
		var full []*lease.Lease
		for i := 0; ; i++ { // until the main session has no room
			l := w.Acquire(must(striped.New(a, "/other/"+string(rune('a'+i)), 1)).For(""))
			full = append(full, l)
			if len(w.Server.Sessions()) > 2 {
				break
			}
		}
		held := w.Acquire(old.For("key"))
		changing := resize(t, old, 2)
		w.Settle()
		next := w.Start(old.For("key"), lease.Forever)
		w.After(50 * time.Millisecond)
		further := sessionOf(w, held.Path())
		require.NotEqual(t, a.Session().ID(), further)
		// The server of the further session is slow to send what the main one already
		// has.
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Session == further && c.Phase == zktest.PhaseEvent && c.Path == path {
				return zktest.Delay(100 * time.Millisecond)
			}
			return zktest.Pass
		})
		require.NoError(t, held.Release())
		<-changing.done
		require.NoError(t, changing.err)
		w.After(time.Second)
		requireOneHolder(t, w, next, b)
		for _, l := range full {
			require.NoError(t, l.Release())
		}
	})
}

// requireOneHolder acquires a key with the new number of stripes, which is 2, and fails
// if the one that waited with the old number holds it as well.
func requireOneHolder(t *testing.T, w *conformance.World, old *conformance.Attempt, c *framework.Client) {
	t.Helper()
	stored, _, err := c.Get(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, "2 stripes", string(stored))
	key := "key"
	resized := newLocks(t, c, 2)
	for ; resized.Index(key) == 0; key += "'" { // all keys have the only stripe of the old ones
	}
	now := w.Acquire(resized.For(key))
	if !old.Waiting() && old.Err == nil {
		require.True(t, old.Lease.Err() != nil || now.Err() != nil, "two leases on %q are valid: %s and %s", key, old.Lease.Path(), now.Path())
	}
	require.ErrorIs(t, old.Failed(), striped.ErrSizeMismatch)
	require.NoError(t, now.Release())
}

func sessionOf(w *conformance.World, node string) int64 {
	w.T.Helper()
	for _, s := range w.Server.Sessions() {
		for _, p := range s.Ephemeral {
			if p == node {
				return s.ID
			}
		}
	}
	w.T.Fatalf("no session has %s", node)
	return 0
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
