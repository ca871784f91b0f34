package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// Only the znode of a contender is written: not the path of a recipe, whose data may be
// a size, nor a node that has only the name of a contender, or only an owner.
func TestRequestRevocationOfNoContender(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		operator := w.Client("operator")
		require.NoError(t, operator.CreateParents(t.Context(), "/x/y"))
		for node, mode := range map[string]framework.Mode{
			"/x/pool":            framework.Persistent,
			"/x/lock-0000000001": framework.Persistent,
			"/x/_c_9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d-lease-0000000002": framework.Container,
			"/x/worker":               framework.Ephemeral,
			"/x/lock-000000001":       framework.Ephemeral,
			"/x/lock-0000000001.old":  framework.Ephemeral,
			"/x/lock-9999999999":      framework.Ephemeral,
			"/x/permits-0000000001":   framework.Ephemeral,
			"/x/permits-0-0000000001": framework.Ephemeral,
			"/x/lock-0000000001/":     framework.Persistent, // no path at all
			"x/lock-0000000001":       framework.Persistent,
		} {
			if framework.ValidatePath(node) != nil {
				require.ErrorIs(t, lease.RequestRevocation(t.Context(), operator, node), framework.ErrInvalidPath, node)
				continue
			}
			_, err := operator.Create(t.Context(), node, []byte{0, 0, 0, 3}, mode)
			require.NoError(t, err, node)
			err = lease.RequestRevocation(t.Context(), operator, node)
			require.ErrorIs(t, err, lease.ErrNotContender, node)
			require.ErrorContains(t, err, "request revocation of "+node)
			info, _ := w.Server.Node(node)
			require.Zero(t, info.Version, node)
			w.Remove(operator, node)
		}
		require.ErrorIs(t, lease.RequestRevocation(t.Context(), operator, "/"), lease.ErrNotContender)
		require.ErrorIs(t, lease.RequestRevocation(t.Context(), operator, "/x/lock-0000000009"), framework.ErrNoNode)
	})
}

// The path of a semaphore is no contender's: the size stays, and no more permits are
// granted than there are.
func TestRequestRevocationOfTheSemaphoresOwnPath(t *testing.T) {
	for name, layout := range map[string][]semaphore.Option{"Curator's layout": nil, "single queue": {semaphore.WithSingleQueue()}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				three, err := semaphore.New(a, "/sem", 3, layout...)
				require.NoError(t, err)
				five, err := semaphore.New(b, "/sem", 5, layout...)
				require.NoError(t, err)
				held, err := three.Weight(3).Acquire(t.Context(), time.Second)
				require.NoError(t, err)
				for _, path := range []string{"/sem", "/sem/locks", "/sem/leases"} {
					require.ErrorIs(t, lease.RequestRevocation(t.Context(), b, path), lease.ErrNotContender)
				}
				require.False(t, requested(held))
				_, err = five.Weight(2).Acquire(t.Context(), time.Second)
				require.ErrorIs(t, err, semaphore.ErrSizeMismatch)
				list, err := three.Contenders(t.Context())
				require.NoError(t, err)
				require.NoError(t, lease.RequestRevocation(t.Context(), b, list[0].Path))
				w.Settle()
				w.After(time.Second)
				require.True(t, requested(held))
				require.NoError(t, held.Release())
			})
		})
	}
}

// The path of a contender is no path for a recipe.
func TestNoRecipeAtAContender(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, name := range []string{"lock-0000000001", "orders-latch-0000000002"} {
			_, mutexErr := mutex.New(c, "/x/"+name)
			_, lockErr := rwlock.New(c, "/x/"+name)
			_, semaphoreErr := semaphore.New(c, "/x/"+name, 1)
			_, leaderErr := leader.New(c, "/x/"+name)
			for _, err := range []error{mutexErr, lockErr, semaphoreErr, leaderErr} {
				require.ErrorIs(t, err, framework.ErrInvalidPath)
				require.ErrorContains(t, err, name)
			}
		}
		for _, name := range []string{"lock-1", "lock-0000000001x", "order-4711", "permits-0000000001", "locks", "leases"} {
			_, err := mutex.New(c, "/x/"+name)
			require.NoError(t, err)
		}
	})
}
