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

// inShared runs a test of a mutex and a semaphore on one path, which has the
// semaphore's parents already if used is set.
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

// A place at the door becomes a permit just when a mutex looks: it finds one or the
// other.
func TestPermitIsTakenWhileAMutexLooks(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		w.Server.On(zktest.OpMulti, shared).Client("s").Before().Delay(300 * time.Millisecond)
		w.Server.On(zktest.OpGetChildren2, shared+"/locks").Client("m").Before().Delay(600 * time.Millisecond)
		inside := w.Start(s, time.Minute)
		require.True(t, inside.Waiting())
		require.ErrorIs(t, w.Start(m, time.Minute).Failed(), lease.ErrOtherRecipe)
		require.NoError(t, inside.Granted().Release())
	})
}

// Who leaves the line while a mutex looks at it is no obstacle.
func TestPlaceAtTheDoorIsGivenUpWhileAMutexLooks(t *testing.T) {
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

// A semaphore's newcomer, who is about to see the mutex, does not drive it away.
func TestMutexStaysForANewcomerAtTheDoor(t *testing.T) {
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

// Nor does a newcomer of another recipe a semaphore's waiter, which it is about to see.
func TestSemaphoreStaysForANewcomer(t *testing.T) {
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

// Where nobody could look into the parent of the permits, because it was not there yet,
// it is the semaphore that goes, although its node is the older one.
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

// Two whose nodes have the same parent: the one with the later node goes, whoever looks
// first.
func TestOlderNodeStays(t *testing.T) {
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

// Children that merely look like those of another recipe are nobody's.
func TestLookalikesAreNoNeighbours(t *testing.T) {
	const id = "_c_01234567-89ab-4def-8123-456789abcdef-"
	for name, path := range map[string]string{"a path": shared, "its permits": shared + "/leases", "its line": shared + "/locks"} {
		t.Run(name, func(t *testing.T) {
			inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
				operator := w.Client("operator")
				likes := []string{
					"abc", "x" + id + "latch-0000000001", id + "x-latch-0000000001", id + "latch-1", "_c_x-latch-0000000001", "latch-0000000001",
					"_c_0123456789abcdef0123456789abcdef-latch-0000000001", id + "permits-0-0000000001", "permits-1-0000000001",
				}
				for _, like := range likes {
					_, err := operator.Create(t.Context(), path+"/"+like, nil, framework.Ephemeral)
					require.NoError(t, err)
				}
				for _, a := range []lease.Acquirer{m, s} {
					require.NoError(t, w.Start(a, 0).Granted().Release())
					require.NoError(t, w.Acquire(a).Release())
				}
				for _, like := range likes {
					w.Remove(operator, path+"/"+like)
				}
			})
		})
	}
}

// A directory that only has the name of the permits', and may not be read, is nobody's.
func TestPermitsOfSomebodyElse(t *testing.T) {
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

// What is found is named, and whose it is.
func TestNeighbourIsNamed(t *testing.T) {
	inShared(t, true, func(t *testing.T, w *conformance.World, m, s lease.Acquirer) {
		held := w.Acquire(s)
		node := held.Path()[len(shared)+1:]
		err := w.Start(m, time.Minute).Failed()
		require.EqualError(t, err, "acquire "+shared+": the path is in use by another recipe: node "+node+" is that of a semaphore: give each a path of its own")
		require.NotErrorIs(t, err, semaphore.ErrLayout)
		require.NoError(t, held.Release())
		held = w.Acquire(m)
		err = w.Start(s, time.Minute).Failed()
		node = held.Path()[len(shared)+1:]
		require.EqualError(t, err, "acquire "+shared+": the path is in use by another recipe: node "+node+" is that of a mutex: give each a path of its own")
		require.NoError(t, held.Release())
	})
}
