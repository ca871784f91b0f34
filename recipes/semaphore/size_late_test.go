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
// neither that of a cancelled Resize nor that of a first acquirer.
func TestSizeThatArrivesLate(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, semaphoreOf maker) {
		a, b := semaphoreOf(w.Client("a"), 2), semaphoreOf(w.Client("b"), 2)
		late := w.Server.On(zktest.OpSetData, path).Client("a").Before().Delay(500 * time.Millisecond)
		first := ask(w, a, 2)
		<-late.Fired()
		require.NoError(t, b.Resize(t.Context(), 5))
		require.ErrorIs(t, first.Failed(), semaphore.ErrSizeMismatch, "the stored size counts")
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

// Another client deletes the whole path when a position in the queue reads the size:
// the waiter joins again, and does not wait for a path that no other client creates.
func TestPathIsDeletedWhenTheSizeIsRead(t *testing.T) {
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
			require.Less(t, asked, 100, "it reads for ever")
			got := at.Granted()
			require.Equal(t, bytes(2), stored(w))
			require.NoError(t, got.Confirm(t.Context()))
			require.ErrorIs(t, held.Release(), lease.ErrDeleted)
			release(w, got)
		})
	}
}

// A request with another size, or for more than there is, fails at once also behind
// other waiters.
func TestMistakesFailInTheMiddleOfTheQueue(t *testing.T) {
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

// Several waiters are admitted at once. One that got a request for revocation behind
// others, and never waits at the head, sees it with its permit.
func TestRevocationRequestedBehindOthers(t *testing.T) {
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

// A stored size is not stored again because the answer was dropped: watchers see one
// change.
func TestSizeIsStoredOnceThoughTheAnswerIsDropped(t *testing.T) {
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

// A waiter for several permits reads the size once, with a watch, and lists the queue
// once, like any other.
func TestWaitForSeveralPermitsIsQuiet(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := newSemaphore(t, w.Client("a"), 4)
		held := take(w, a, 4)
		first := ask(w, a, 3)
		b := newSemaphore(t, w.Client("b"), 4)
		second := ask(w, b, 3)
		w.After(time.Second)
		require.Equal(t, 1, w.Server.CountOf("b", zktest.OpGetChildren2))
		require.Equal(t, 3, w.Server.CountOf("b", zktest.OpGetData), "the size, the node ahead, the own one")
		release(w, held)
		release(w, first.Granted())
		release(w, second.Granted())
	})
}

// A write of unknown outcome, whose session is lost, is not taken for failed because
// the lagging server of the next session still shows the old number.
func TestResizeIgnoresTheNumberOfALaggingServer(t *testing.T) {
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
