package multilock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
)

// Locks that are acquired in one transaction were seen to be free.
func TestObserversLearnThatAllLocksWereFree(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := both(t, w.Client("a"))
		require.NoError(t, w.Acquire(l).Release()) // which makes the parents
		require.NoError(t, w.Acquire(l).Release())
		require.Equal(t, []int{0, 0, 0, 0}, ahead(w))
	})
}

// ahead returns how many were ahead of each acquire.
func ahead(w *conformance.World) (all []int) {
	for _, e := range w.Observed.Events() {
		if e, ok := e.(framework.AcquireEnd); ok {
			all = append(all, e.Ahead)
		}
	}
	return all
}

// Calls in the context of one lease, which they do not own, are measured apart: the
// race detector would find out.
func TestObserversOfCallsBelowALease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		warm(w, c)
		require.NoError(t, w.Acquire(both(t, c)).Release())
		outer := w.Acquire(newMutex(t, c, "/locks/outer"))
		ctx := lease.WithoutOwner(outer.Context())
		var calls sync.WaitGroup
		for _, l := range []*multilock.Lock{both(t, c), newLock(t, c, paths)} {
			calls.Go(func() {
				for range 30 {
					held, err := l.Acquire(ctx, time.Minute)
					if assert.NoError(t, err) {
						assert.NoError(t, held.Release())
					}
				}
			})
		}
		calls.Wait()
		require.NoError(t, outer.Release())
	})
}
