package multilock_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/retry"
)

// The locks are acquired in the order of their full paths, however they are given, and
// whatever the client calls them.
func TestLocksAreAcquiredInTheOrderOfTheirFullPaths(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		blocker := w.Client("blocker")
		inStock := w.Client("in stock", func(cfg *framework.Config) { cfg.Namespace = "locks/stock" })
		for name, locks := range map[string][]lease.Acquirer{
			"in order":     {newMutex(t, w.Named("a"), cart), newMutex(t, w.Named("a"), stock)},
			"in no order":  {newMutex(t, w.Named("a"), stock), newMutex(t, w.Named("a"), cart)},
			"in namespace": {newMutex(t, inStock, "/a"), newMutex(t, w.Named("a"), cart)},
		} {
			held := w.Acquire(newMutex(t, blocker, cart))
			at := w.Start(lockOn(t, locks, unlimited), lease.Forever)
			require.Len(t, w.Ephemerals(cart), 2, name)
			require.Empty(t, w.Ephemerals(stock), "%s: it waits for the first", name)
			require.NoError(t, held.Release())
			require.NoError(t, at.Granted().Release())
		}
	})
}

// Clients that are given the locks in opposite orders never block each other.
func TestOppositeOrdersDoNotBlock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		there := lockOn(t, []lease.Acquirer{newMutex(t, a, cart), newMutex(t, a, stock)}, unlimited)
		back := lockOn(t, []lease.Acquirer{newMutex(t, b, stock), newMutex(t, b, cart)}, unlimited)
		for range 50 {
			atA, atB := w.Begin(t.Context(), there, time.Minute), w.Begin(t.Context(), back, time.Minute)
			for range 2 {
				select {
				case <-atA.Done():
					atA, atB = atB, atA
				case <-atB.Done():
				}
				held := atB.Granted()
				require.NoError(t, held.Err())
				require.NoError(t, held.Release())
				atB = atA
			}
		}
	})
}

// A client that holds the second lock and waits for the first without a limit, as a
// Java program may, is not blocked: the multi-lock releases the first when its limit
// has passed, and begins again behind that client.
func TestForeignOrderDelaysAndDoesNotBlock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		other, c := w.Client("other"), w.Client("a")
		limit := 3 * time.Second
		second := w.Acquire(newMutex(t, other, stock))
		mine := w.Start(both(t, c, multilock.WithWaitLimit(retry.Constant(limit))), lease.Forever)
		require.Len(t, w.Ephemerals(cart), 1, "it holds the first and waits for the second")
		require.Len(t, w.Ephemerals(stock), 2)
		first := w.StartWith(second.Context(), newMutex(t, other, cart), lease.Forever)
		w.After(limit/2 - 100*time.Millisecond)
		require.True(t, first.Waiting())
		w.After(limit/2 + 100*time.Millisecond)
		require.False(t, first.Waiting(), "no longer than the limit")
		w.After(time.Second)
		require.Len(t, w.Ephemerals(stock), 2, "it waits for that which it did not get")
		require.Len(t, w.Ephemerals(cart), 1, "and holds nothing")
		w.After(time.Minute)
		require.True(t, mine.Waiting(), "for as long as that is held")
		require.NoError(t, first.Granted().Release())
		require.NoError(t, second.Release())
		require.NoError(t, mine.Granted().Release())
	})
}

// Among many that contend, some in another order and without a limit, all get their
// locks, and no two hold one.
func TestForeignOrdersAmongMany(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var holders [2]atomic.Int32 // of cart and stock
		work := func(locks ...int) {
			for _, i := range locks {
				if n := holders[i].Add(1); n != 1 {
					t.Errorf("%d hold lock %d", n, i)
				}
			}
			<-time.After(20 * time.Millisecond)
			for _, i := range locks {
				holders[i].Add(-1)
			}
		}
		var all sync.WaitGroup
		run := func(name string, round func(c *framework.Client)) {
			c := w.Client(name)
			all.Go(func() {
				for range 20 {
					round(c)
				}
			})
		}
		for i := range 3 {
			run(fmt.Sprint("multi-lock ", i), func(c *framework.Client) {
				err := lease.Do(t.Context(), both(t, c), lease.Forever, func(context.Context, *lease.Lease) error {
					work(0, 1)
					return nil
				})
				assert.NoError(t, err)
			})
		}
		for i := range 2 {
			run(fmt.Sprint("foreign ", i), func(c *framework.Client) {
				err := lease.Do(t.Context(), newMutex(t, c, stock), lease.Forever, func(ctx context.Context, _ *lease.Lease) error {
					work(1)
					return lease.Do(ctx, newMutex(t, c, cart), lease.Forever, func(context.Context, *lease.Lease) error {
						work(0)
						return nil
					})
				})
				assert.NoError(t, err)
			})
		}
		all.Wait()
	})
}
