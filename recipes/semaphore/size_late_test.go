package semaphore_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A size that was sent before a later Resize, and arrives after it, changes nothing:
// neither one whose caller has left nor one that a first user stores.
func TestSizeThatArrivesLate(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, semaphoreOf maker) {
		a, b := semaphoreOf(w.Client("a"), 2), semaphoreOf(w.Client("b"), 2)
		late := w.Server.On(zktest.OpSetData, path).Client("a").Before().Delay(500 * time.Millisecond)
		first := ask(w, a, 2)
		<-late.Fired()
		require.NoError(t, b.Resize(t.Context(), 5))
		require.ErrorIs(t, first.Failed(), semaphore.ErrSizeMismatch, "it goes by what is stored")
		require.Equal(t, bytes(5), stored(w))

		late = w.Server.On(zktest.OpSetData, path).Client("a").Before().Delay(500 * time.Millisecond)
		ctx, cancel := context.WithCancelCause(t.Context())
		left := make(chan error, 1)
		go func() { left <- a.Resize(ctx, 3) }()
		<-late.Fired()
		cancel(errStopped)
		require.ErrorIs(t, <-left, errStopped)
		require.NoError(t, b.Resize(t.Context(), 6))
		w.After(time.Second)
		require.Equal(t, bytes(6), stored(w))
	})
}

// Somebody deletes the whole path when a place in line asks for the size: it joins
// again, and does not look for ever for what nobody else makes.
func TestPathIsDeletedWhenTheSizeIsAskedFor(t *testing.T) {
	for nth := 1; nth <= 2; nth++ {
		inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
			a, operator := make(w.Client("a"), 2), w.Client("operator")
			held := take(w, a, 1)
			asked := 0
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Client == "a" && c.Op == zktest.OpGetData && c.Path == path && c.Phase == zktest.PhaseBeforeApply {
					switch asked++; {
					case asked == nth:
						return zktest.Delay(500 * time.Millisecond)
					case asked > 100: // else no time would pass
						return zktest.Delay(time.Hour)
					}
				}
				return zktest.Pass
			})
			at := ask(w, a, 2)
			require.GreaterOrEqual(t, asked, nth)
			require.NoError(t, operator.DeleteTree(t.Context(), path))
			w.After(time.Second)
			require.Less(t, asked, 100, "it asks for ever")
			got := at.Granted()
			require.Equal(t, bytes(2), stored(w))
			require.NoError(t, got.Confirm(t.Context()))
			require.ErrorIs(t, held.Release(), lease.ErrDeleted)
			release(w, got)
		})
	}
}

// Whoever goes by another size, or asks for more than there is, is told at once also
// behind others who wait in line.
func TestMistakesAreToldInTheMiddleOfTheLine(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := make(w.Client("a"), 2)
		held := take(w, a, 2)
		first, second := ask(w, a, 1), ask(w, a, 2)
		for n, want := range map[int]error{1: semaphore.ErrSizeMismatch, 2: semaphore.ErrSizeMismatch} {
			at := ask(w, make(w.Client("b"), 5), n)
			require.False(t, at.Waiting())
			require.ErrorIs(t, at.Failed(), want)
		}
		at := ask(w, make(w.Client("c"), 0), 3)
		require.False(t, at.Waiting())
		require.ErrorIs(t, at.Failed(), semaphore.ErrTooMany)
		release(w, held)
		release(w, first.Granted())
		release(w, second.Granted())
	})
}

// Those in line pass the door together, at once: who was asked to give way while others
// were before it in line, and never waits at the door, learns of it with its permit.
func TestRevokedInLineAndPassedAtOnce(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, operator := make(w.Client("a"), 3), w.Client("operator")
		for _, late := range []bool{false, true} {
			held := take(w, a, 3)
			before, asked, behind := ask(w, a, 1), ask(w, make(w.Client("b"), 3), 1), ask(w, a, 1)
			w.After(time.Second)
			list, err := a.Contenders(t.Context())
			require.NoError(t, err)
			if late { // what was there is read again
				w.Server.DropConnections("b")
				w.After(time.Second)
			}
			require.NoError(t, lease.RequestRevocation(t.Context(), operator, list[len(list)-2].Path))
			w.After(time.Second)
			release(w, held)
			for _, at := range []*conformance.Attempt{before, asked, behind} {
				got := at.Granted()
				w.After(time.Second)
				require.Equal(t, at == asked, conformance.Closed(got.RevocationRequested()))
				release(w, got)
			}
		}
	})
}

// A size that was stored is not stored again because its answer was lost: whoever
// watches it sees one change.
func TestSizeIsStoredOnceThoughItsAnswerIsLost(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := newSemaphore(t, w.Client("a"), 2)
		warm(w, s)
		for size := range 5 {
			before, _ := w.Server.Node(path)
			w.Server.On(zktest.OpSetData, path).After().Cut()
			require.NoError(t, s.Resize(t.Context(), 3+size))
			after, _ := w.Server.Node(path)
			require.Equal(t, bytes(int32(3+size)), after.Data)
			require.Equal(t, before.Version+1, after.Version)
		}
	})
}

// Who waits in the line before a door for several permits reads the size once, to be
// told of changes, and lists the line once, like anybody else.
func TestWaitForSeveralPermitsIsQuiet(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := newSemaphore(t, w.Client("a"), 4)
		held := take(w, a, 4)
		first := ask(w, a, 3)
		b := newSemaphore(t, w.Client("b"), 4)
		second := ask(w, b, 3)
		w.After(time.Second)
		require.Equal(t, 1, w.Server.CountOf("b", zktest.OpGetChildren2))
		require.Equal(t, 3, w.Server.CountOf("b", zktest.OpGetData), "the size, the place ahead, the own one")
		release(w, held)
		release(w, first.Granted())
		release(w, second.Granted())
	})
}

// A write that was lost with its session has not been carried out because the server
// that the next session is with, which has fallen behind, still shows the number of
// long ago.
func TestResizeIsNotFooledByTheNumberOfLongAgo(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var away atomic.Bool
		a := w.Client("a", func(cfg *framework.Config) {
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				name := "a"
				if away.Load() {
					name = "a, elsewhere"
				}
				return w.Server.Dial(name)(ctx, network, addr)
			}
		})
		s, other := newSemaphore(t, a, 2), newSemaphore(t, w.Client("b"), 2)
		warm(w, s)
		w.Server.Lag("a, elsewhere", true)
		require.NoError(t, other.Resize(t.Context(), 7))
		lost := w.Server.On(zktest.OpSetData, path).Client("a").Before().Delay(time.Hour)
		resized := make(chan error, 1)
		go func() { resized <- s.Resize(t.Context(), 2) }()
		<-lost.Fired()
		away.Store(true)
		w.Expire(a)
		require.NoError(t, <-resized)
		require.Equal(t, bytes(2), stored(w))
		w.Server.Lag("a, elsewhere", false)
	})
}
