package once_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// One of several calls runs fn; the others wait until that is recorded.
func TestDoRunsOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		begun, errs := 0, make(chan error)
		for _, name := range []string{"a", "a", "b", "c", "c"} {
			j := newJob(t, w.Client(name))
			go func() {
				errs <- j.Do(t.Context(), "key", func(context.Context, *lease.Lease) error {
					begun++
					time.Sleep(time.Second)
					return nil
				})
			}()
		}
		start := time.Now()
		for range 5 {
			require.NoError(t, <-errs)
		}
		require.Equal(t, 1, begun)
		require.Less(t, time.Since(start), 1100*time.Millisecond)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	})
}

// A run that fails is begun again by the next one that waits.
func TestRunThatFails(t *testing.T) {
	errEnough := errors.New("enough")
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a")), newJob(t, w.Client("b"))
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			first <- a.Do(t.Context(), "key", func(context.Context, *lease.Lease) error {
				time.Sleep(time.Second)
				return errEnough
			})
		}()
		w.After(time.Millisecond)
		var got *lease.Lease
		go func() {
			second <- b.Do(t.Context(), "key", func(_ context.Context, held *lease.Lease) error {
				got = held
				return nil
			})
		}()
		require.ErrorIs(t, <-first, errEnough)
		require.NoError(t, <-second)
		found, err := a.Key("key").Recorded(t.Context())
		require.NoError(t, err)
		require.Equal(t, got.Token(), found.Token)
		require.Equal(t, "key", found.Key)
		require.NotEmpty(t, found.Who)
		require.ErrorIs(t, w.Start(a.Key("key"), 0).Failed(), once.ErrRecorded)
	})
}
