package shares_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/shares"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const path = "/shares"

// anyOf acquires any of some mutexes.
type anyOf struct {
	*shares.Shares
	recipe acquire.Recipe
}

func newShares(c *framework.Client, n int) anyOf {
	self := queue.Self("")
	recipe := func(at string) acquire.Recipe {
		return acquire.Recipe{Client: c, Path: at, Of: path, Kind: lease.KindMutex, Self: self}
	}
	var slots []shares.Slot
	for i := range n {
		one := recipe(fmt.Sprintf("%s/%d", path, i))
		slots = append(slots, shares.Slot{Recipe: &one, Queue: locks.Queue(c, one.Path, znode.Mutex, self, 0)})
	}
	return anyOf{shares.New(path, slots), recipe(path)}
}

func (a anyOf) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return a.recipe.Acquire(ctx, timeout, func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		held, _, err := a.Take(ctx, t)
		return held, err
	})
}

// A call is to look, and is cancelled just then. Another one looks.
func TestCallThatIsToLookIsCancelled(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const n = 3
		holder, a := newShares(w.Client("holder"), n), newShares(w.Client("a"), n)
		held := []*lease.Lease{w.Acquire(holder), w.Acquire(holder), w.Acquire(holder)}
		errStopped := errors.New("stopped")
		for range 20 {
			goes, stays := w.Start(a, lease.Forever), w.Start(a, lease.Forever)
			goes.Cancel(errStopped)
			a.LookNow()
			require.ErrorIs(t, goes.Failed(), errStopped)
			w.Settle()
			free := 0
			for len(w.Server.Children(parent(held[free]))) > 1 {
				free++
			}
			require.NoError(t, held[free].Release())
			w.After(30 * time.Second)
			require.False(t, stays.Waiting(), "nobody looks")
			require.NoError(t, stays.Granted().Release())
			held[free] = w.Acquire(holder)
		}
		for _, l := range held {
			require.NoError(t, l.Release())
		}
	})
}

func parent(l *lease.Lease) string { return l.Path()[:len(path)+2] }
