package conformance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The head of a semaphore's queue leaves while a mutex looks at that queue. The waiter
// behind it is older than the mutex as well, and about to take a permit.
func TestWaiterBehindAHeadThatLeaves(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		behind, err := semaphore.New(w.Client("behind"), shared, 1)
		require.NoError(t, err)
		w.Server.On(zktest.OpGetData, shared).Client("s").Before().Delay(600 * time.Millisecond)
		w.Server.On(zktest.OpExists, shared+"/locks/").Client("m").Before().Delay(700 * time.Millisecond)
		takes := w.Server.On(zktest.OpMulti, shared).Client("behind").Before().Delay(800 * time.Millisecond)
		leaves := w.Start(s, time.Minute)
		next := w.Start(behind, time.Minute)
		looks := w.Start(m, time.Minute)
		require.Len(t, w.Server.Children(shared+"/locks"), 2)
		leaves.Cancel(errors.New("changed its mind"))
		require.ErrorIs(t, looks.Failed(), lease.ErrOtherRecipe)
		<-takes.Fired()
		require.Empty(t, w.Server.Children(shared+"/leases"), "the mutex saw it in the queue")
		require.Error(t, leaves.Failed())
		require.NoError(t, next.Granted().Release())
	})
}

// When the parent's counter has overflowed, a node's number does not say that the node
// is newer. No other recipe may stay beside it.
func TestOtherRecipeWhoseNumberHasNoOrder(t *testing.T) {
	for _, number := range []string{"2147483647", "-2147483648"} {
		t.Run(number, func(t *testing.T) {
			inShared(t, true, func(t *testing.T, w *conformance.World, m, _ lease.Acquirer) {
				operator := w.Client("operator")
				node := shared + "/_c_01234567-89ab-4def-8123-456789abcdef-latch-" + number
				_, err := operator.Create(t.Context(), node, nil, framework.Ephemeral)
				require.NoError(t, err)
				require.ErrorIs(t, w.Start(m, time.Minute).Failed(), lease.ErrOtherRecipe)
				w.Remove(operator, node)
				require.NoError(t, w.Acquire(m).Release())
			})
		})
	}
}
