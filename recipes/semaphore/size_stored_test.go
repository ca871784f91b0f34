package semaphore_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Who adopts the stored size shares it with those that insist on it, also when they
// start after a resize.
func TestWithStoredSizeFollowsTheStoredOne(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		strict := make(w.Client("a"), 2)
		held := []*lease.Lease{w.Acquire(strict)}
		for n, own := range map[string]int{"fewer": 1, "more": 5} {
			s := make(w.Client(n), own, semaphore.WithStoredSize())
			size, err := s.Size(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, size)
			got := w.Acquire(s)
			require.ErrorIs(t, w.Start(s, 0).Failed(), lease.ErrTimeout)
			release(w, got)
		}
		require.NoError(t, strict.Resize(t.Context(), 4))
		late := make(w.Client("late"), 2, semaphore.WithStoredSize())
		held = append(held, take(w, late, 3))
		require.ErrorIs(t, w.Start(late, 0).Failed(), lease.ErrTimeout)
		require.ErrorIs(t, w.Start(late.Weight(5), time.Hour).Failed(), semaphore.ErrTooMany)
		require.Equal(t, bytes(4), stored(w))
		release(w, held...)
	})
}

// The own number is for a path that stores none, also when it has been removed.
func TestWithStoredSizeStoresItsOwnWhereNoneIs(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := make(w.Client("a"), 2, semaphore.WithStoredSize())
		size, err := a.Size(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, size)
		_, ok := w.Server.Node(path)
		require.False(t, ok, "a look stores nothing")
		warm(w, a)
		require.Equal(t, bytes(2), stored(w))
		require.ErrorIs(t, w.Start(make(w.Client("b"), 3), 0).Failed(), semaphore.ErrSizeMismatch)
		require.NoError(t, a.Resize(t.Context(), 5))
		w.After(5 * time.Minute)
		_, ok = w.Server.Node(path)
		require.False(t, ok)
		warm(w, a)
		require.Equal(t, bytes(2), stored(w))
	})
}

// Of two that come first at the same time one stores its number, also if it does not
// learn that, and both go by it.
func TestDifferentSizesOfWhichTheStoredOneCounts(t *testing.T) {
	for name, strike := range map[string]func(*zktest.Rule){
		"no fault":          nil,
		"cut before it":     func(r *zktest.Rule) { r.Before().Cut() },
		"cut after it":      func(r *zktest.Rule) { r.After().Cut() },
		"expired before it": func(r *zktest.Rule) { r.Before().Expire() },
		"expired after it":  func(r *zktest.Rule) { r.After().Expire() },
		"late":              func(r *zktest.Rule) { r.Before().Delay(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
				if strike != nil {
					strike(w.Server.On(zktest.OpSetData, path))
				}
				all := []*semaphore.Semaphore{
					make(w.Client("a"), 2, semaphore.WithStoredSize()), make(w.Client("b"), 3, semaphore.WithStoredSize()),
				}
				var attempts []*conformance.Attempt
				for i := range 6 {
					attempts = append(attempts, w.Begin(t.Context(), all[i%2], time.Hour))
				}
				w.After(time.Minute)
				size := int(binary.BigEndian.Uint32(stored(w)))
				require.Contains(t, []int{2, 3}, size)
				granted := 0
				for _, at := range attempts {
					if !at.Waiting() {
						granted++
					}
				}
				require.Equal(t, size, granted)
				for len(attempts) > 0 { // in the order of their grants
					for i, at := range attempts {
						if !at.Waiting() {
							release(w, at.Granted())
							attempts = append(attempts[:i], attempts[i+1:]...)
							break
						}
					}
				}
			})
		})
	}
}
