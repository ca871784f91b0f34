package multilock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// When the limit has passed, a multi-lock waits for the lock that it could not get, at
// one position in its queue, and holds none of the others meanwhile.
func TestWaitsForTheLockThatItCouldNotGet(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		last := paths[len(paths)-1]
		other := w.Acquire(newMutex(t, b, last))
		at := w.Start(newLock(t, a, paths), lease.Forever)
		require.Len(t, w.Ephemerals("/"), 4, "it holds the first two")
		w.After(2 * time.Second) // the longest first limit, and the pause after it
		queued := w.Server.Children(last)
		require.Len(t, queued, 2)
		w.After(time.Minute)
		require.Equal(t, queued, w.Server.Children(last))
		for _, path := range paths[:len(paths)-1] {
			require.NoError(t, w.Start(newMutex(t, b, path), 0).Granted().Release())
		}
		require.NoError(t, other.Release())
		held := at.Granted()
		tokens := held.Tokens()
		require.Less(t, tokens[2], tokens[0], "the last was acquired first")
		require.Less(t, tokens[0], tokens[1])
		for i, path := range paths {
			names := w.Server.Children(path)
			require.Len(t, names, 1)
			info, ok := w.Server.Node(path + "/" + names[0])
			require.True(t, ok)
			require.Equal(t, int64(tokens[i]), info.Czxid, "tokens are in the order of the list")
		}
		require.NoError(t, held.Release())
		requireFree(w, b)
	})
}

// Three clients take two locks in the order of multi-locks, and three take them in the
// opposite one, again and again, without a limit. Nearly always one of either side
// waits for the other, so all go on only if it helps to begin again.
func TestOppositeOrdersAgainAndAgain(t *testing.T) {
	const (
		span = 10 * time.Minute // of which none may be without a grant for a tenth
		each = 3
	)
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		var group sync.WaitGroup
		for i := range 2 * each {
			name := fmt.Sprintf("foreign %d", i/2)
			takes := inOppositeOrder
			if i%2 == 0 {
				name, takes = fmt.Sprintf("multi-lock %d", i/2), together
			}
			take := takes(t, w.Client(name))
			rng := rand.New(rand.NewPCG(1, uint64(i))) //nolint:gosec // a small number
			group.Go(func() {
				grants, slowest := 0, time.Duration(0)
				for granted := true; granted; {
					began := time.Now()
					if granted = take(ctx, rng); granted {
						grants++
					}
					slowest = max(slowest, time.Since(began))
				}
				t.Logf("%s: %d grants, after %v at most", name, grants, slowest)
				assert.Less(t, slowest, span/10, name)
				assert.Greater(t, grants, 50, name)
			})
		}
		group.Wait()
		requireFree(w, w.Client("another"))
	})
}

// A take acquires both locks, holds and releases them, until ctx ends.
type take func(ctx context.Context, rng *rand.Rand) bool

// together takes both by a multi-lock.
func together(t *testing.T, c *framework.Client) take {
	all := newLock(t, c, paths[:2])
	return func(ctx context.Context, rng *rand.Rand) bool {
		held, err := all.Acquire(ctx, lease.Forever)
		if err != nil {
			return false
		}
		linger(rng)
		return assert.NoError(t, held.Release())
	}
}

// inOppositeOrder takes the second lock, and waits for the first while it holds that.
func inOppositeOrder(t *testing.T, c *framework.Client) take {
	first, second := newMutex(t, c, paths[1]), newMutex(t, c, paths[0])
	return func(ctx context.Context, rng *rand.Rand) bool {
		outer, err := first.Acquire(ctx, lease.Forever)
		if err != nil {
			return false
		}
		defer func() { assert.NoError(t, outer.Release()) }()
		inner, err := second.Acquire(ctx, lease.Forever)
		if err != nil {
			return false
		}
		linger(rng)
		return assert.NoError(t, inner.Release())
	}
}

// linger lets some virtual milliseconds pass.
func linger(rng *rand.Rand) { <-time.After(time.Duration(1+rng.IntN(14)) * time.Millisecond) }
