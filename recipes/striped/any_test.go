package striped_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Each of n calls gets a share of its own, and says which; the next one has to wait.
func TestAnyShare(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const n = 20 // more than are looked at in one round trip
		clients := []*framework.Client{w.Client("a"), w.Client("b")}
		for _, timeout := range []time.Duration{0, time.Minute, lease.Forever} {
			var held []*lease.Lease
			var shares []int
			for i := range n {
				l := newLocks(t, clients[i%2], n)
				got, share, err := l.AcquireAny(t.Context(), timeout)
				require.NoError(t, err)
				require.Regexp(t, "^"+l.Path(share)+"/", got.Path())
				require.NotZero(t, got.Token())
				held, shares = append(held, got), append(shares, share)
			}
			slices.Sort(shares)
			require.Len(t, slices.Compact(shares), n)
			l := newLocks(t, clients[0], n)
			require.ErrorIs(t, w.Start(anyStripe(l), 0).Failed(), lease.ErrTimeout)
			at := w.Start(anyStripe(l), 50*time.Millisecond)
			late := (*lease.TimeoutError)(nil)
			require.ErrorAs(t, at.Failed(), &late)
			require.Equal(t, 1, late.Ahead)
			require.NotZero(t, late.Holder)
			require.Equal(t, 50*time.Millisecond, at.Took)
			release(w, held[7])
			release(w, w.Start(anyStripe(l), 0).Granted())
			release(w, append(held[:7], held[8:]...)...)
		}
		leavesNothing(w)
	})
}

// Calls of one value take different shares, and those that wait look for a free one
// together.
func TestSharesOfOneValue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := anyStripe(newLocks(t, w.Client("a"), 4))
		var held []*lease.Lease
		taken := map[int]bool{}
		for range 4 {
			l := w.Start(a, time.Minute).Granted()
			held, taken[a.share(l)] = append(held, l), true
		}
		require.Len(t, taken, 4)
		w.After(time.Second)
		var waiting []*conformance.Attempt
		cost := w.Requests(func() {
			for range 8 {
				waiting = append(waiting, w.Start(a, time.Minute))
			}
			w.After(time.Second)
		})
		require.LessOrEqual(t, cost[zktest.OpGetChildren2], 8+12*4, "one call looks for all that wait, seldom")
		for _, l := range held {
			require.Len(t, w.Server.Children(a.Path(a.share(l))), 3, "the calls are spread evenly")
		}
		release(w, held...)
		for _, at := range waiting {
			release(w, at.Granted())
		}
	})
}

// A value keeps to the share that was free for it, so that processes that have a share
// each do not disturb each other. It turns to another one when it had to wait.
func TestKeepsToItsShare(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := anyStripe(newLocks(t, w.Client("a"), 4)), anyStripe(newLocks(t, w.Client("b"), 4))
		use := func(from anyOf) int {
			held := w.Acquire(from)
			defer release(w, held)
			return from.share(held)
		}
		own := use(a)
		for range 10 {
			require.Equal(t, own, use(a))
			require.NotEqual(t, own, use(b), "sessions begin with different shares")
		}
		held := w.Acquire(a)
		waited := w.Start(newMutex(t, w.Client("c"), held), lease.Forever)
		release(w, held)
		at := w.Start(a, time.Minute) // it finds its share taken
		release(w, waited.Granted())
		release(w, at.Granted())
		require.NotEqual(t, own, use(a))
	})
}

// A context that owns a share re-enters that, however many are free. Its key's Acquire
// does as well.
func TestAnyShareIsReentrant(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLocks(t, w.Client("a"), 4)
		a := anyStripe(l)
		for range 4 { // each share once
			held := w.Acquire(a)
			inner := w.StartWith(held.Context(), a, 0).Granted()
			require.Equal(t, held.Token(), inner.Token())
			require.Equal(t, a.share(held), a.share(inner))
			release(w, held, inner)
			require.Empty(t, w.Ephemerals("/"))
		}
		held := w.Acquire(l.For("key"))
		inner := w.StartWith(held.Context(), a, 0).Granted()
		require.Equal(t, l.Index("key"), a.share(inner))
		other, share, err := l.AcquireAny(lease.WithoutOwner(held.Context()), time.Minute)
		require.NoError(t, err)
		require.NotEqual(t, l.Index("key"), share)
		release(w, other, inner, held)
	})
}

// A call that waits behind a slow holder moves to a share that becomes free elsewhere,
// soon if it has not waited for long, and its place is free for others.
func TestMovesToAFreeShare(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := anyStripe(newLocks(t, w.Client("a"), 3)), anyStripe(newLocks(t, w.Client("b"), 3))
		for _, waited := range []time.Duration{0, time.Second, time.Minute} {
			held := []*lease.Lease{w.Acquire(a), w.Acquire(a), w.Acquire(a)}
			at := w.Start(b, lease.Forever)
			node := w.Ephemerals("/")
			w.After(waited)
			require.True(t, at.Waiting())
			require.Equal(t, node, w.Ephemerals("/"), "it keeps its place")
			slow := slices.IndexFunc(held, func(l *lease.Lease) bool { // where it waits
				return len(w.Server.Children(b.Path(a.share(l)))) == 2
			})
			require.GreaterOrEqual(t, slow, 0)
			free := (slow + 1) % 3
			began := time.Now()
			release(w, held[free])
			got := at.Granted()
			require.LessOrEqual(t, time.Since(began), max(20*time.Millisecond, min(2*waited, 10*time.Second)))
			require.Equal(t, a.share(held[free]), b.share(got))
			w.Settle()
			require.Len(t, w.Ephemerals("/"), 3)
			release(w, got, held[slow], held[(slow+2)%3])
		}
		leavesNothing(w)
	})
}

// When the call that is to look has gone, however it has, another one looks.
func TestSearchGoesOn(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		errStopped := errors.New("stopped")
		holder := anyStripe(newLocks(t, w.Client("holder"), 2))
		l := newLocks(t, w.Client("a"), 2)
		held := []*lease.Lease{w.Acquire(holder), w.Acquire(holder)}
		for step := range 40 { // moments up to and between the first looks
			var all []*conformance.Attempt
			for range 4 {
				all = append(all, w.Start(anyStripe(l), lease.Forever))
			}
			w.After(time.Duration(step) * time.Millisecond)
			all[0].Cancel(errStopped)
			require.ErrorIs(t, all[0].Failed(), errStopped)
			all[1].Cancel(errStopped)
			require.ErrorIs(t, all[1].Failed(), errStopped)
			freed := step % 2
			release(w, held[freed])
			all = all[2:]
			for range 2 {
				select {
				case <-all[0].Done():
				case <-all[1].Done():
					slices.Reverse(all)
				case <-time.After(30 * time.Second):
					require.Fail(t, "nobody looks", "step %d", step)
				}
				release(w, all[0].Granted())
				all[0] = all[1]
			}
			held[freed] = w.Acquire(holder)
		}
		release(w, held...)
		leavesNothing(w)
	})
}

// Each request of a call that moves fails in turn: it is granted one share, and leaves
// no node at another.
func TestEachRequestOfAMoveFails(t *testing.T) {
	for name, strike := range map[string]func(*zktest.Rule){
		"the connection breaks before": func(r *zktest.Rule) { r.Before().Cut() },
		"the connection breaks after":  func(r *zktest.Rule) { r.After().Cut() },
		"the session ends":             func(r *zktest.Rule) { r.After().Expire() },
		"it is slow":                   func(r *zktest.Rule) { r.Before().Delay(300 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				holder, b := w.Client("holder"), w.Client("b")
				for nth := 1; ; nth++ {
					from := anyStripe(newLocks(t, holder, 2))
					a := anyStripe(newLocks(t, b, 2))
					held := []*lease.Lease{w.Acquire(from), w.Acquire(from)}
					at := w.Start(a, lease.Forever)
					w.After(5 * time.Millisecond)
					free := slices.IndexFunc(held, func(l *lease.Lease) bool { return len(w.Server.Children(a.Path(from.share(l)))) == 1 })
					rule := w.Server.On(zktest.AnyOp, path).Client("b").Nth(nth).Optional()
					strike(rule)
					release(w, held[free])
					got := at.Granted()
					rule.Remove()
					w.Settle()
					require.NoError(t, got.Err())
					require.Equal(t, from.share(held[free]), a.share(got))
					release(w, held[1-free])
					if got.Err() == nil {
						release(w, got)
					}
					w.After(conformance.SessionTimeout)
					require.Empty(t, w.Ephemerals("/"))
					if !conformance.Closed(rule.Fired()) {
						require.Greater(t, nth, 3)
						break
					}
				}
			})
		})
	}
}

// An ended context acquires nothing.
func TestAnyShareWithAnEndedContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, timeout := range []time.Duration{0, time.Minute} {
			held, _, err := newLocks(t, w.Named("a"), 4).AcquireAny(ctx, timeout)
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, held)
		}
		require.Empty(t, w.Ephemerals("/"))
	})
}
