package semaphore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
)

// Two who each want three of four. One at a time, each would have got a part and
// waited for the rest for ever.
func TestNoPartsAreHeld_CuratorR6(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 4), make(w.Client("b"), 4)
		first, second := start(w, several{a, 3}), start(w, several{b, 3})
		w.Settle()
		for range 2 {
			select {
			case <-first.done:
				release(w, first.lease)
				first.done = nil
			case <-second.done:
				release(w, second.lease)
				second.done = nil
			}
		}
		require.NoError(t, first.err)
		require.NoError(t, second.err)
	})
}

// After a reconnect no permit is left that nobody holds.
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
		require.Empty(t, places(w))
		for _, s := range []several{{a, 2}, {b, 2}} {
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
		require.Len(t, places(w), 2, "those of the holders")
		release(w, got, held)
	})
}
