package semaphore_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
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

// The server goes while a permit is made, and comes back.
func TestServerIsLostWhileThePermitIsMade_Curator335(t *testing.T) {
	for name, op := range map[string]zktest.Op{"in line": zktest.OpCreate, "at the door": zktest.OpMulti} {
		for _, outage := range []time.Duration{time.Second, 2 * conformance.SessionTimeout} {
			t.Run(name, func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					s := newSemaphore(t, w.Client("a"), 1)
					warm(w, s)
					w.Server.On(op, path).After().Cut()
					w.Server.RefuseConnections("a", true)
					short := w.Start(s, 500*time.Millisecond)
					require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
					require.InDelta(t, 500*time.Millisecond, short.Took, float64(100*time.Millisecond))
					at := ask(w, s, 1)
					w.After(outage)
					w.Server.RefuseConnections("a", false)
					got := at.Granted()
					require.Less(t, at.Took, outage+5*time.Second, "the permit that was given up for lost does not stay")
					require.Len(t, places(w), 1)
					release(w, got)
				})
			})
		}
	}
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

// A permit that the dead session of a killed program holds is free when that ends.
func TestPermitsOfADeadSession_Curator595(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		held := take(w, make(w.Client("a"), 2), 2)
		w.Server.Partition("a", true)
		at := ask(w, make(w.Client("b"), 2), 2)
		got := at.Granted()
		require.LessOrEqual(t, at.Took, conformance.SessionTimeout+time.Second)
		require.ErrorIs(t, held.Err(), lease.ErrLost, "and its holder knows")
		release(w, got)
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

// Several goroutines, one value, one permit: whoever has a lease can release it.
func TestReleaseRacesTheNextAcquire_Curator376(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 1)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for range 200 {
					held, err := s.Acquire(t.Context(), time.Hour)
					if err != nil {
						t.Error(err)
						return
					}
					if err := held.Release(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		w.Settle()
		require.Empty(t, places(w))
	})
}

// The session ends while the permit is made: it is made in the next one.
func TestSessionEndsWhileThePermitIsMade_Curator48(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{"before": (*zktest.Rule).Before, "after": (*zktest.Rule).After} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				s := newSemaphore(t, a, 2)
				warm(w, s)
				old := a.Session().ID()
				aim(w.Server.On(zktest.OpMulti, path)).Expire()
				at := w.Start(several{s, 2}, 10*time.Second)
				got := at.Granted()
				require.Less(t, at.Took, 2*time.Second)
				info, _ := w.Server.Node(got.Path())
				require.NotEqual(t, old, info.EphemeralOwner)
				require.Len(t, places(w), 2)
				release(w, got)
			})
		})
	}
}

// The permit of one who holds it, and that of one who waits, is deleted by hand.
func TestNoOrphanedNodes_CuratorTestNoOrphanedNodes(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s, operator := make(w.Client("a"), 1), w.Client("operator")
		held := w.Acquire(s)
		at := ask(w, s, 1)
		for _, node := range places(w) {
			if node != held.Path() {
				w.Remove(operator, node)
			}
		}
		w.Settle()
		require.True(t, at.Waiting())
		require.Len(t, places(w), 2, "it waits again")
		release(w, held)
		release(w, at.Granted())
		require.Empty(t, places(w))
	})
}

func TestClosingReturnsThePermits_CuratorTestClientClose(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		c := w.Client("a")
		s := make(c, 3)
		held := take(w, s, 2)
		waiting := ask(w, s, 2)
		next := ask(w, make(w.Client("b"), 3), 3)
		require.NoError(t, c.Close())
		require.ErrorIs(t, waiting.Failed(), framework.ErrClosed)
		require.ErrorIs(t, context.Cause(held.Context()), framework.ErrClosed)
		got := next.Granted()
		require.Zero(t, next.Took)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		release(w, got)
	})
}

// Twenty contend for one permit. The servers go: nobody is let in. They come back: it
// goes on.
func TestWorkGoesOnAfterAnOutage_CuratorTestCluster(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		referee := &conformance.Referee{Places: 1}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 20 {
			s := make(w.Client(string(rune('a'+i))), 1)
			all.Go(func() {
				for {
					got, err := s.Acquire(ctx, lease.Forever)
					if err != nil {
						return
					}
					referee.Grant("", got)
					time.Sleep(30 * time.Millisecond)
					referee.Look()
					_ = got.Release()
				}
			})
		}
		w.After(time.Second)
		for range 3 {
			w.Server.RefuseConnections("", true)
			w.Server.Restart(true)
			w.After(conformance.SessionTimeout / 2)
			before := len(referee.Tokens())
			w.After(time.Second)
			require.Len(t, referee.Tokens(), before, "nobody without a server")
			w.Server.RefuseConnections("", false)
			w.After(2 * conformance.SessionTimeout)
			require.Greater(t, len(referee.Tokens()), before+20)
		}
		cancel()
		all.Wait()
		require.Empty(t, referee.Faults())
	})
}
