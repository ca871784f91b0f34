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

// A Neighbour is a recipe that cannot share a path with another.
type Neighbour struct {
	// Name names the recipe in the output.
	Name string
	// New returns the recipe for a path, through a client.
	New func(c *framework.Client, path string) lease.Acquirer
	// Places is how many leases may be valid at once.
	Places int
}

// RunNeighbours runs the suite on two recipes of different kinds on one path: the first
// is there already, and the second comes.
func RunNeighbours(t *testing.T, there, comes Neighbour) {
	tests := map[string]func(t *testing.T, w *World, there, comes Neighbour){
		"the second recipe is refused":        newcomerIsRefused,
		"the first recipe goes on":            othersStay,
		"the session of a holder ends":        neighbourDies,
		"both acquire at the same time":       bothCome,
		"a waiter counts as well as a holder": waiterIsInTheWay,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			InWorld(t, func(t *testing.T, w *World) { test(t, w, there, comes) })
		})
	}
}

func newcomerIsRefused(t *testing.T, w *World, there, comes Neighbour) {
	held := w.Acquire(there.New(w.Client("a"), path))
	b := comes.New(w.Client("b"), path)
	leavesNothing(t, w, func() {
		for _, timeout := range []time.Duration{0, time.Hour, lease.Forever} {
			at := w.Start(b, timeout)
			require.ErrorIs(t, at.Failed(), lease.ErrOtherRecipe)
			require.ErrorContains(t, at.Err, "acquire "+path+": ")
			require.NotErrorIs(t, at.Err, lease.ErrTimeout)
			require.Less(t, at.Took, time.Second)
		}
	})
	require.NoError(t, held.Confirm(t.Context()))
	require.NoError(t, held.Err())
	release(t, held)
	release(t, w.Start(b, 0).Granted())
	release(t, w.Acquire(b))
}

// Who waits in line, and who joins it, is not refused for somebody who has come later.
func othersStay(t *testing.T, w *World, there, comes Neighbour) {
	a, b := there.New(w.Client("a"), path), comes.New(w.Client("b"), path)
	var held []*lease.Lease
	for range there.Places {
		held = append(held, w.Acquire(a))
	}
	waiters := []*Attempt{w.Start(a, lease.Forever), w.Start(there.New(w.Client("c"), path), lease.Forever)}
	w.After(time.Second)
	for range 3 {
		require.ErrorIs(t, w.Start(b, time.Hour).Failed(), lease.ErrOtherRecipe)
		w.After(time.Second)
	}
	release(t, held...)
	for _, at := range waiters {
		release(t, at.Granted())
	}
	release(t, w.Acquire(b))
}

// With the session of who holds the path its claim to the path ends, and not before.
func neighbourDies(t *testing.T, w *World, there, comes Neighbour) {
	c := w.Client("a")
	held := w.Acquire(there.New(c, path))
	w.Server.Partition("a", true)
	b := comes.New(w.Client("b"), path)
	require.ErrorIs(t, w.Start(b, time.Minute).Failed(), lease.ErrOtherRecipe)
	w.After(2 * SessionTimeout)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	got := w.Acquire(b)
	w.Server.Partition("a", false)
	require.ErrorIs(t, w.Start(there.New(w.Client("c"), path), time.Minute).Failed(), lease.ErrOtherRecipe)
	release(t, got)
}

// Whatever request of the one is held up, and in whichever state the path is, while the
// other acquires: both are never in.
func bothCome(t *testing.T, w *World, there, comes Neighbour) {
	ca, cb := w.Client("a"), w.Client("b")
	operator := w.Client("operator")
	for _, used := range []string{"never", "by the first", "by the second"} {
		for _, phase := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply} {
			for nth := 1; ; nth++ {
				if err := operator.DeleteTree(t.Context(), path); !errors.Is(err, framework.ErrNoNode) {
					require.NoError(t, err)
				}
				a, b := there.New(ca, path), comes.New(cb, path)
				switch used {
				case "by the first":
					release(t, w.Acquire(a))
				case "by the second":
					release(t, w.Acquire(b))
				}
				w.After(SessionTimeout)                                                 // nothing but what is asked for here is under way
				slow := w.Server.On(zktest.AnyOp, path).Client("b").Nth(nth).Optional() // the last one does not strike
				if phase == zktest.PhaseAfterApply {
					slow.After()
				}
				slow.Delay(500 * time.Millisecond)
				second := w.Start(b, time.Minute)
				first := w.Start(a, time.Minute)
				w.After(5 * time.Second)
				what := fmt.Sprintf("path used %s, request %d held up in phase %v", used, nth, phase)
				require.False(t, first.Waiting() || second.Waiting(), what)
				in := 0
				for _, at := range []*Attempt{first, second} {
					if at.Err != nil {
						require.ErrorIs(t, at.Err, lease.ErrOtherRecipe, what)
						continue
					}
					in++
					require.NoError(t, at.Lease.Err(), what)
					release(t, at.Lease)
				}
				require.LessOrEqual(t, in, 1, "both are in: %s", what)
				slow.Remove()
				if !Closed(slow.Fired()) {
					require.Greater(t, nth, 2)
					break
				}
			}
		}
	}
}

// Who has waited in line before is there as well.
func waiterIsInTheWay(t *testing.T, w *World, there, comes Neighbour) {
	ca := w.Client("a")
	a := there.New(ca, path)
	var held []*lease.Lease
	for range there.Places {
		held = append(held, w.Acquire(a))
	}
	at := w.Start(there.New(w.Client("c"), path), lease.Forever)
	w.After(time.Second)
	b := comes.New(w.Client("b"), path)
	w.Expire(ca)
	require.ErrorIs(t, w.Start(b, time.Minute).Failed(), lease.ErrOtherRecipe)
	w.After(time.Second)
	for _, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrLost)
	}
	release(t, at.Granted())
}
