package conformance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The first at the door leaves while a mutex looks at the line; who is behind it is older
// than the mutex as well, and about to take a permit.
func TestWhoIsBehindOneThatLeavesTheDoor(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		behind, err := semaphore.New(w.Client("behind"), shared, 1)
		require.NoError(t, err)
		w.Server.On(zktest.OpGetData, shared).Client("s").Before().Delay(600 * time.Millisecond)
		w.Server.On(zktest.OpExists, shared+"/locks/").Client("m").Before().Delay(700 * time.Millisecond)
		takes := w.Server.On(zktest.OpMulti, shared).Client("behind").Before().Delay(800 * time.Millisecond)
		leaves := w.Start(s, time.Minute)
		next := w.Start(behind, time.Minute)
		comes := w.Start(m, time.Minute)
		require.Len(t, w.Server.Children(shared+"/locks"), 2)
		leaves.Cancel(errors.New("changed its mind"))
		require.ErrorIs(t, comes.Failed(), lease.ErrOtherRecipe)
		<-takes.Fired()
		require.Empty(t, w.Server.Children(shared+"/leases"), "it was seen in line")
		require.Error(t, leaves.Failed())
		require.NoError(t, next.Granted().Release())
	})
}
