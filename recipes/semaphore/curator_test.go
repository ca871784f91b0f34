package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two clients want three of four permits each. Acquired one by one, each would hold a
// part and wait for the rest for ever.
func TestNoPartsAreHeld_CuratorR6(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 4), make(w.Client("b"), 4)
		first, second := w.Begin(t.Context(), a.Weight(3), time.Hour), w.Begin(t.Context(), b.Weight(3), time.Hour)
		w.Settle()
		if first.Waiting() {
			first, second = second, first
		}
		release(w, first.Granted())
		release(w, second.Granted())
	})
}

// After a reconnect no permit is left without a holder.
func TestNoOrphansAfterReconnects_Curator315(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 2), make(w.Client("b"), 2)
		for round := range 30 {
			at, other := ask(w, a, 1+round%2), ask(w, b, 2)
			w.Server.DropConnections([]string{"a", "b", ""}[round%3])
			if round%2 == 0 {
				w.Settle()
			}
			release(w, at.Granted())
			release(w, other.Granted())
		}
		require.Empty(t, contenders(w))
		for _, s := range []lease.Acquirer{a.Weight(2), b.Weight(2)} {
			release(w, w.Start(s, 0).Granted())
		}
	})
}

func TestCancelledWhileWaiting_Curator462(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 2), make(w.Client("b"), 2)
		held := w.Acquire(a)
		head, second, third := ask(w, b, 2), ask(w, b, 1), ask(w, b, 1)
		for _, at := range []*conformance.Attempt{second, head} {
			at.Cancel(errStopped)
			w.Settle()
			require.ErrorIs(t, at.Failed(), errStopped)
		}
		got := third.Granted()
		require.Len(t, contenders(w), 2, "those of the holders")
		release(w, got, held)
	})
}

// Other clients write anything into their nodes, or nothing.
func TestContendersWithoutData_Kazoo12(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		s := newSemaphore(t, c, 20)
		warm(w, s)
		for i, data := range [][]byte{nil, {}, {10, 0, 0, 1}, []byte("null"), []byte(`"x"`), []byte(`{"pid":"x"}`), {0xff, '{'}} {
			for _, kind := range []string{"/leases/lease-", "/locks/lock-"} {
				_, err := c.Create(t.Context(), path+kind+"000000000"+string(rune('0'+i)), data, framework.Ephemeral)
				require.NoError(t, err)
			}
		}
		list, err := s.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 14)
		for i, contender := range list {
			require.Zero(t, contender.Holder, "nothing is made up from %s", contender.Node)
			require.Equal(t, i < 7, contender.Holding)
			require.NotEmpty(t, contender.String())
		}
		var timeout *lease.TimeoutError
		require.ErrorAs(t, w.Start(s, time.Second).Failed(), &timeout)
		require.Equal(t, 14, timeout.Ahead)
		require.Equal(t, list[0].Node, timeout.Node)
		require.Zero(t, timeout.Holder)
	})
}

// The first client may not store the size: it gets the error, and no node stays.
func TestFailuresLeaveNothing_Curator41(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := make(w.Client("a"), 1)
		refusal := w.Server.On(zktest.OpSetData, path).Client("a").Always().Fail(zktest.NoAuth)
		require.ErrorIs(t, w.Start(a, time.Minute).Failed(), framework.ErrNoAuth)
		refusal.Remove()
		require.Empty(t, contenders(w))
		release(w, w.Start(a, 0).Granted())
	})
}
