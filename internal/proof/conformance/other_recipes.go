package conformance

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A RecipeKind is a recipe that cannot share a path with recipes of other kinds.
type RecipeKind struct {
	// Name names the recipe in the output.
	Name string
	// New returns the recipe for a path, through a client.
	New func(c *framework.Client, path string) lease.Acquirer
	// Slots is how many leases may be valid at once.
	Slots int
	// Keeps is true if the path stays its own when it is not used, until it is deleted,
	// or the server removes what is empty there.
	Keeps bool
}

// options has the server remove nothing that a recipe keeps.
func (first RecipeKind) options(second RecipeKind) (opts []zktest.Option) {
	if first.Keeps || second.Keeps {
		opts = append(opts, zktest.WithReapInterval(1000*time.Hour))
	}
	return opts
}

// acquires acquires the second recipe, when the first is not used any more.
func (first RecipeKind) acquires(t *testing.T, w *World, second lease.Acquirer) {
	t.Helper()
	if first.Keeps {
		require.ErrorIs(t, w.Start(second, time.Minute).Failed(), lease.ErrOtherRecipe)
		require.NoError(t, w.Known("b").DeleteTree(t.Context(), path))
	}
	release(t, w.Start(second, 0).Granted())
	release(t, w.Acquire(second))
}

// RunKinds runs tests with two recipes of different kinds on one path: the first uses
// the path already when the second starts.
func RunKinds(t *testing.T, first, second RecipeKind) {
	tests := map[string]func(t *testing.T, w *World, first, second RecipeKind){
		"the second recipe is refused":        secondIsRefused,
		"the first recipe goes on":            firstGoesOn,
		"the session of a holder ends":        holderOfFirstEnds,
		"both acquire at the same time":       bothAcquire,
		"a waiter counts as well as a holder": waiterCounts,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			InWorld(t, func(t *testing.T, w *World) { test(t, w, first, second) }, first.options(second)...)
		})
	}
}

func secondIsRefused(t *testing.T, w *World, first, second RecipeKind) {
	held := w.Acquire(first.New(w.Client("a"), path))
	b := second.New(w.Client("b"), path)
	leavesNothing(t, w, func() {
		for _, timeout := range []time.Duration{0, time.Hour, lease.Forever} {
			at := w.Start(b, timeout)
			require.ErrorIs(t, at.Failed(), lease.ErrOtherRecipe)
			require.ErrorContains(t, at.Err, "acquire "+path)
			require.NotErrorIs(t, at.Err, lease.ErrTimeout)
			require.Less(t, at.Took, time.Second)
		}
	})
	require.NoError(t, held.Confirm(t.Context()))
	require.NoError(t, held.Err())
	release(t, held)
	first.acquires(t, w, b)
}

// A recipe of another kind that comes later does not disturb the first: neither its
// waiters nor those who join its queue are refused.
func firstGoesOn(t *testing.T, w *World, first, second RecipeKind) {
	a, b := first.New(w.Client("a"), path), second.New(w.Client("b"), path)
	var held []*lease.Lease
	for range first.Slots {
		held = append(held, w.Acquire(a))
	}
	waiters := []*Attempt{w.Start(a, lease.Forever), w.Start(first.New(w.Client("c"), path), lease.Forever)}
	w.After(time.Second)
	for range 3 {
		require.ErrorIs(t, w.Start(b, time.Hour).Failed(), lease.ErrOtherRecipe)
		w.After(time.Second)
	}
	release(t, held...)
	for _, at := range waiters {
		release(t, at.Granted())
	}
	first.acquires(t, w, b)
}

// The first recipe owns the path until the session of its holder ends, and no longer.
func holderOfFirstEnds(t *testing.T, w *World, first, second RecipeKind) {
	c := w.Client("a")
	held := w.Acquire(first.New(c, path))
	w.Server.Partition("a", true)
	b := second.New(w.Client("b"), path)
	require.ErrorIs(t, w.Start(b, time.Minute).Failed(), lease.ErrOtherRecipe)
	w.After(2 * SessionTimeout)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	first.acquires(t, w, b)
	got := w.Acquire(b)
	w.Server.Partition("a", false)
	require.ErrorIs(t, w.Start(first.New(w.Client("c"), path), time.Minute).Failed(), lease.ErrOtherRecipe)
	release(t, got)
}

// The two never hold the path together, whichever request of one is delayed while the
// other acquires, and whatever the path contains.
func bothAcquire(t *testing.T, w *World, first, second RecipeKind) {
	ca, cb := w.Client("a"), w.Client("b")
	operator := w.Client("operator")
	for _, used := range []string{"never", "by the first", "by the second"} {
		for _, phase := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply} {
			for nth := 1; ; nth++ {
				if err := operator.DeleteTree(t.Context(), path); !errors.Is(err, framework.ErrNoNode) {
					require.NoError(t, err)
				}
				a, b := first.New(ca, path), second.New(cb, path)
				switch used {
				case "by the first":
					release(t, w.Acquire(a))
				case "by the second":
					release(t, w.Acquire(b))
				}
				w.After(SessionTimeout)                                                 // no earlier request is under way
				slow := w.Server.On(zktest.AnyOp, path).Client("b").Nth(nth).Optional() // there is one pass without a delay, the last
				if phase == zktest.PhaseAfterApply {
					slow.After()
				}
				slow.Delay(500 * time.Millisecond)
				atB := w.Start(b, time.Minute)
				atA := w.Start(a, time.Minute)
				w.After(5 * time.Second)
				what := fmt.Sprintf("path used %s, request %d delayed in phase %v", used, nth, phase)
				require.False(t, atA.Waiting() || atB.Waiting(), what)
				holders := 0
				for _, at := range []*Attempt{atA, atB} {
					if at.Err != nil {
						require.ErrorIs(t, at.Err, lease.ErrOtherRecipe, what)
						continue
					}
					holders++
					require.NoError(t, at.Lease.Err(), what)
					release(t, at.Lease)
				}
				require.LessOrEqual(t, holders, 1, "both hold the path: %s", what)
				slow.Remove()
				if !Closed(slow.Fired()) {
					require.Greater(t, nth, 2)
					break
				}
			}
		}
	}
}

// The path is in use while the first recipe has a waiter, even when its holder is gone.
func waiterCounts(t *testing.T, w *World, first, second RecipeKind) {
	ca := w.Client("a")
	a := first.New(ca, path)
	var held []*lease.Lease
	for range first.Slots {
		held = append(held, w.Acquire(a))
	}
	at := w.Start(first.New(w.Client("c"), path), lease.Forever)
	w.After(time.Second)
	b := second.New(w.Client("b"), path)
	w.Expire(ca)
	require.ErrorIs(t, w.Start(b, time.Minute).Failed(), lease.ErrOtherRecipe)
	w.After(time.Second)
	for _, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrLost)
	}
	release(t, at.Granted())
}
