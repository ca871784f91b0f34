package conformance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const shared = "/conformance/shared"

// inShared runs a test of a mutex and a semaphore on one path. The semaphore's parents
// exist already if used is set.
func inShared(t *testing.T, used bool, test func(t *testing.T, w *conformance.World, m, s lease.Acquirer)) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m, err := mutex.New(w.Client("m"), shared)
		require.NoError(t, err)
		s, err := semaphore.New(w.Client("s"), shared, 1)
		require.NoError(t, err)
		if used {
			require.NoError(t, w.Acquire(s).Release())
			w.After(conformance.SessionTimeout)
		} else {
			require.NoError(t, w.Acquire(m).Release())
		}
		test(t, w, m, s)
	})
}

// A waiter of the semaphore takes its permit while a mutex looks: the mutex finds the
// waiter or the permit.
func TestPermitIsTakenWhileAMutexLooks(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		w.Server.On(zktest.OpMulti, shared).Client("s").Before().Delay(300 * time.Millisecond)
		w.Server.On(zktest.OpGetChildren2, shared+"/locks").Client("m").Before().Delay(600 * time.Millisecond)
		taking := w.Start(s, time.Minute)
		require.True(t, taking.Waiting())
		require.ErrorIs(t, w.Start(m, time.Minute).Failed(), lease.ErrOtherRecipe)
		require.NoError(t, taking.Granted().Release())
	})
}

// A waiter that leaves the semaphore's queue while a mutex looks is no obstacle.
func TestWaiterForAPermitLeavesWhileAMutexLooks(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		w.Server.On(zktest.OpGetData, shared).Client("s").Before().Delay(800 * time.Millisecond)
		w.Server.On(zktest.OpExists, shared+"/locks/").Client("m").Before().Delay(900 * time.Millisecond)
		older := w.Start(s, time.Minute)
		looks := w.Start(m, time.Minute)
		older.Cancel(errors.New("changed its mind"))
		require.Error(t, older.Failed())
		require.NoError(t, looks.Granted().Release())
	})
}

// A mutex is not refused because of a newer waiter of a semaphore, which is about to
// see the mutex.
func TestOlderMutexGoesOnBesideASemaphore(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		w.Server.On(zktest.OpGetChildren2, shared).Client("m").Before().Delay(300 * time.Millisecond)
		w.Server.On(zktest.OpGetData, shared).Client("s").Before().Delay(800 * time.Millisecond)
		older := w.Start(m, time.Minute)
		newcomer := w.Start(s, time.Minute)
		w.After(500 * time.Millisecond)
		require.Len(t, w.Server.Children(shared+"/locks"), 1)
		held := older.Granted()
		require.ErrorIs(t, newcomer.Failed(), lease.ErrOtherRecipe)
		require.NoError(t, held.Release())
	})
}

// A semaphore's waiter is not refused because of a newer mutex, which is about to see
// it.
func TestOlderSemaphoreGoesOnBesideAMutex(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		w.Server.On(zktest.OpGetData, shared).Client("s").Before().Delay(300 * time.Millisecond)
		w.Server.On(zktest.OpGetChildren2, shared).Client("m").Before().Delay(800 * time.Millisecond)
		older := w.Start(s, time.Minute)
		newcomer := w.Start(m, time.Minute)
		w.After(500 * time.Millisecond)
		require.Len(t, w.Server.Children(shared), 3)
		held := older.Granted()
		require.ErrorIs(t, newcomer.Failed(), lease.ErrOtherRecipe)
		require.NoError(t, held.Release())
	})
}

// If the parent of the permits did not exist yet, no client could look into it. Then
// the semaphore is refused, although its node is the older one.
func TestSemaphoreWhosePermitsHadNoParent(t *testing.T) {
	inShared(t, false, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		w.Server.On(zktest.OpCreateContainer, shared+"/leases").Client("s").Before().Delay(300 * time.Millisecond)
		older := w.Start(s, time.Minute)
		require.True(t, older.Waiting())
		held := w.Acquire(m)
		require.ErrorIs(t, older.Failed(), lease.ErrOtherRecipe)
		require.NoError(t, held.Err())
		require.NoError(t, held.Release())
	})
}

// If the nodes have the same parent, the recipe with the newer node is refused,
// whichever looks first.
func TestOlderNodeGoesOn(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m, err := mutex.New(w.Client("m"), shared)
		require.NoError(t, err)
		s, err := semaphore.New(w.Client("s"), shared, 1, semaphore.WithSingleQueue())
		require.NoError(t, err)
		require.NoError(t, w.Acquire(m).Release())
		w.Server.On(zktest.OpGetChildren2, shared).Client("m").Before().Delay(300 * time.Millisecond)
		w.Server.On(zktest.OpGetChildren2, shared).Client("s").Before().Delay(600 * time.Millisecond)
		older, newcomer := w.Start(m, time.Minute), w.Start(s, time.Minute)
		held := older.Granted()
		require.ErrorIs(t, newcomer.Failed(), lease.ErrOtherRecipe)
		require.NoError(t, held.Release())
	})
}

// Children whose names only resemble those of another recipe are ignored.
func TestSimilarNamesAreNoOtherRecipe(t *testing.T) {
	const id = "_c_01234567-89ab-4def-8123-456789abcdef-"
	for name, path := range map[string]string{"a path": shared, "its permits": shared + "/leases", "its queue": shared + "/locks"} {
		t.Run(name, func(t *testing.T) {
			inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
				operator := w.Client("operator")
				similar := []string{
					"abc", "x" + id + "latch-0000000001", id + "x-latch-0000000001", id + "latch-1", "_c_x-latch-0000000001", "latch-0000000001",
					"_c_0123456789abcdef0123456789abcdef-latch-0000000001", id + "permits-0-0000000001", "permits-1-0000000001",
				}
				for _, name := range similar {
					_, err := operator.Create(t.Context(), path+"/"+name, nil, framework.Ephemeral)
					require.NoError(t, err)
				}
				for _, a := range []lease.Acquirer{m, s} {
					require.NoError(t, w.Start(a, 0).Granted().Release())
					require.NoError(t, w.Acquire(a).Release())
				}
				for _, name := range similar {
					w.Remove(operator, path+"/"+name)
				}
			})
		})
	}
}

// A node that has the name of the permits' parent and may not be read is ignored.
func TestUnreadableNodeWithTheNameOfThePermits(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		owner := w.Client("owner", func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("owner", "secret")}
		})
		require.NoError(t, owner.CreateParents(t.Context(), shared+"/x"))
		_, err := owner.Create(t.Context(), shared+"/leases", nil, framework.Persistent, framework.WithACL(framework.CreatorACL(framework.PermAll)))
		require.NoError(t, err)
		m, err := mutex.New(w.Client("m"), shared)
		require.NoError(t, err)
		require.NoError(t, w.Start(m, 0).Granted().Release())
	})
}

// The error names the node that was found, and its recipe.
func TestOtherRecipeIsNamedInTheError(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		held := w.Acquire(s)
		node := held.Path()[len(shared)+1:]
		err := w.Start(m, time.Minute).Failed()
		require.EqualError(t, err, "acquire "+shared+": the path is in use by another recipe: node "+node+" is that of a semaphore: give each a path of its own")
		require.NotErrorIs(t, err, semaphore.ErrOtherLayout)
		require.NoError(t, held.Release())
		held = w.Acquire(m)
		err = w.Start(s, time.Minute).Failed()
		node = held.Path()[len(shared)+1:]
		require.EqualError(t, err, "acquire "+shared+": the path is in use by another recipe: node "+node+" is that of a mutex: give each a path of its own")
		require.NoError(t, held.Release())
	})
}
