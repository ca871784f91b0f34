package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// A recipe may have others at paths below its own, whatever these are called: only
// stripe- and four digits is a stripe.
func TestPathsThatAreCalledAlmostLikeAStripe(t *testing.T) {
	for _, name := range []string{"stripe-red", "stripe-1", "stripe-", "stripe-00000", "stripe-2024"} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				below := w.Acquire(must(mutex.New(b, path+"/"+name)))
				for _, l := range []lease.Acquirer{must(mutex.New(a, path)), must(leader.New(a, path+"2"))} {
					at := w.Start(l, time.Second)
					require.NoError(t, at.Granted().Release())
				}
				require.NoError(t, below.Release())
			})
		})
	}
}

// While a path has stripes, and their number, it is refused to others, also when no
// stripe is held.
func TestOtherRecipeThatCameBetween(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		l := newLocks(t, a, 2)
		require.NoError(t, w.Acquire(l.For("key")).Release())
		require.ErrorIs(t, w.Start(must(mutex.New(b, path)), time.Second).Failed(), lease.ErrOtherRecipe)
		require.NoError(t, w.Acquire(l.For("key")).Release())
	})
}

// A semaphore in Curator's layout that stores no size, as Java's does not, is another
// recipe.
func TestCuratorsSemaphoreAtThePath(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		for _, dir := range []string{"/locks", path, path + "/locks", path + "/leases"} {
			_, err := b.Create(t.Context(), dir, nil, framework.Persistent)
			require.NoError(t, err)
		}
		_, err := b.Create(t.Context(), path+"/leases/_c_01234567-89ab-cdef-0123-456789abcdef-lease-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		require.ErrorIs(t, w.Start(must(mutex.New(a, path)), time.Second).Failed(), lease.ErrOtherRecipe)
		require.ErrorIs(t, w.Start(newLocks(t, a, 2).For("key"), time.Second).Failed(), lease.ErrOtherRecipe)
	})
}

// Curator writes its address into a node that it creates without data, such as a path
// that is made to stay: that is no data of another program.
func TestPathThatCuratorHasMade(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		for _, dir := range []string{"/locks", path} {
			_, err := a.Create(t.Context(), dir, []byte("10.0.0.17"), framework.Persistent)
			require.NoError(t, err)
		}
		require.NoError(t, w.Start(must(semaphore.New(a, "/locks", 2)), time.Second).Granted().Release())
		require.NoError(t, w.Start(newLocks(t, a, 2).For("key"), time.Second).Granted().Release())
	})
}
