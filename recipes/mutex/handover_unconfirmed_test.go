package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// unanswered releases a lease whose delete reaches the server late, and returns when
// the release waits for the answer.
func unanswered(w *conformance.World, held *lease.Lease) (freed chan error) {
	w.T.Helper()
	w.Server.On(zktest.OpDelete, held.Path()).Client("a").Optional().Delay(500 * time.Millisecond)
	freed = make(chan error, 1)
	go func() { freed <- held.Release() }()
	w.Settle()
	return freed
}

// Other sessions see the node of a slot that was handed over as long as it stands.
func TestContendersShowANodeThatIsOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m, other := newMutex(t, w.Client("a")), newMutex(t, w.Client("b"))
		held := w.Acquire(m)
		next := w.Start(m, lease.Forever)
		w.After(100 * time.Millisecond)
		freed := unanswered(w, held)
		got := next.Granted()
		list, err := other.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, held.Path(), path+"/"+list[0].Node)
		require.True(t, list[0].Holding)
		require.False(t, list[1].Holding)
		now := w.Start(other, 0)
		require.ErrorIs(t, now.Failed(), lease.ErrTimeout)
		require.NoError(t, <-freed)
		list, err = other.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.True(t, list[0].Holding)
		require.NoError(t, got.Release())
	})
}

// The longest hold passes before the release, at the same moment, or just after.
func TestSlotWhoseLongestHoldIsOver(t *testing.T) {
	const longest = time.Second
	for _, before := range []time.Duration{-time.Millisecond, 0, time.Millisecond} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a := w.Client("a")
			held := w.Acquire(newMutex(t, a, mutex.WithMaxHold(longest)))
			began := time.Now()
			next := w.Start(newMutex(t, a), lease.Forever)
			w.After(longest - before - time.Since(began))
			freed := unanswered(w, held)
			if before > 0 {
				require.False(t, next.Waiting(), "it was valid")
				require.NoError(t, <-freed)
				require.NoError(t, next.Granted().Release())
				return
			}
			w.After(400 * time.Millisecond)
			require.True(t, next.Waiting())
			require.ErrorIs(t, <-freed, lease.ErrMaxHold)
			require.NoError(t, next.Granted().Release())
		})
	}
}

// A lost lease that is not released keeps its slot for a moment, so that its holder can
// stop.
func TestLostLeaseKeepsItsGrace(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(newMutex(t, a, mutex.WithMaxHold(time.Second)))
		next := w.Start(newMutex(t, a), lease.Forever)
		<-held.Context().Done()
		w.Settle()
		_, stands := w.Server.Node(held.Path())
		require.True(t, stands)
		require.True(t, next.Waiting())
		got := next.Granted()
		_, stands = w.Server.Node(held.Path())
		require.False(t, stands)
		require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
		require.NoError(t, got.Release())
	})
}

// A lease has two claims: only the release of the last one hands the slot over.
func TestOnlyTheLastReleaseHandsOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"))
		held := w.Acquire(m)
		again, err := m.Acquire(held.Context(), 0)
		require.NoError(t, err)
		next := w.Start(m, lease.Forever)
		w.After(100 * time.Millisecond)
		require.NoError(t, held.Release())
		w.After(time.Second)
		require.True(t, next.Waiting())
		_, err = w.Known("a").Multi(t.Context(), again.Check())
		require.NoError(t, err)
		freed := unanswered(w, again)
		require.False(t, next.Waiting())
		require.True(t, conformance.Closed(again.Context().Done()))
		_, err = w.Known("a").Multi(t.Context(), again.Check())
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.NoError(t, <-freed)
		require.NoError(t, next.Granted().Release())
	})
}
