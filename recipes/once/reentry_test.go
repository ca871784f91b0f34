package once_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A run that is recorded is not begun again by the one that has it.
func TestReentryAfterTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		begun := 0
		require.NoError(t, j.Do(t.Context(), "a", func(ctx context.Context, held *lease.Lease) error {
			begun++
			if err := j.Key("a").Record(ctx, held); err != nil {
				return err
			}
			return j.Do(ctx, "a", func(context.Context, *lease.Lease) error {
				begun++
				return nil
			})
		}))
		require.Equal(t, 1, begun)
	})
}

// A run that is begun within itself is recorded by the inner call, and the outer one
// finds its own record.
func TestReentryBeforeTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		require.NoError(t, j.Do(t.Context(), "a", func(ctx context.Context, _ *lease.Lease) error {
			return j.Do(ctx, "a", nothing)
		}))
		require.Equal(t, []string{"a.key"}, w.Server.Children(done))
	})
}

// Forks of the one that has a run begin it once.
func TestForksDoOneRun(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		held := w.Acquire(j.Key("a"))
		begun, errs := 0, make([]error, 3)
		var forks sync.WaitGroup
		for i := range errs {
			ctx := lease.Fork(held.Context())
			forks.Go(func() {
				errs[i] = j.Do(ctx, "a", func(context.Context, *lease.Lease) error {
					begun++
					time.Sleep(time.Second)
					return nil
				})
			})
		}
		forks.Wait()
		require.NoError(t, held.Release())
		require.Equal(t, make([]error, 3), errs)
		require.Equal(t, 1, begun)
	})
}

// A function that has recorded its run itself is done, and is not begun again.
func TestFunctionThatRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, begun := newJob(t, w.Client("a")), 0
		for range 2 {
			require.NoError(t, j.Do(t.Context(), "a", func(ctx context.Context, held *lease.Lease) error {
				begun++
				return j.Key("a").Record(ctx, held)
			}))
		}
		require.Equal(t, 1, begun)
	})
}

// A function that has recorded its run loses the lease before it returns. Whatever Do
// says of that, the run is not begun again.
func TestFunctionRecordsAndLosesTheLease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, begun := w.Client("a"), 0
		j := newJob(t, c)
		fn := func(ctx context.Context, held *lease.Lease) error {
			begun++
			require.NoError(t, j.Key("a").Record(ctx, held))
			w.Expire(c)
			<-held.Done()
			return nil
		}
		require.NoError(t, j.Do(t.Context(), "a", fn))
		require.NoError(t, j.Do(t.Context(), "a", fn))
		require.Equal(t, 1, begun)
	})
}

// The same without a connection: Do does not wait until it can find the record.
func TestFunctionRecordsAndLosesTheConnection(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, lost := newJob(t, w.Client("a")), time.Time{}
		err := j.Do(t.Context(), "a", func(ctx context.Context, held *lease.Lease) error {
			require.NoError(t, j.Key("a").Record(ctx, held))
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
			<-held.Done()
			lost = time.Now()
			return nil
		})
		require.ErrorIs(t, err, lease.ErrLost)
		require.LessOrEqual(t, time.Since(lost), 1100*time.Millisecond)
		w.Server.RefuseConnections("a", false)
		require.NoError(t, j.Do(t.Context(), "a", nothing))
	})
}

// Another client does the run after a loss that the work does not notice: that its own
// work is not recorded is said, although the run is.
func TestAnotherRecordsAfterALoss(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		a, b := newJob(t, c), newJob(t, w.Client("b"))
		err := a.Do(t.Context(), "a", func(_ context.Context, held *lease.Lease) error {
			w.Expire(c)
			<-held.Done()
			require.NoError(t, b.Do(t.Context(), "a", nothing))
			return nil
		})
		require.ErrorIs(t, err, lease.ErrLost)
		require.NoError(t, a.Do(t.Context(), "a", nothing))
	})
}

// A function that panics leaves neither a record nor a lock.
func TestFunctionThatPanics(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		require.Panics(t, func() {
			_ = j.Do(t.Context(), "a", func(context.Context, *lease.Lease) error { panic("a mistake") })
		})
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
		require.Empty(t, w.Server.Children(done))
		require.NoError(t, j.Do(t.Context(), "a", nothing))
	})
}
