package leasetest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
)

func TestAcquireFailsByFailNext(t *testing.T) {
	a := &leasetest.Acquirer{Path: "/locks/orders"}
	mine := &lease.TimeoutError{Path: "/mine", Ahead: 7}
	a.FailNext(framework.ErrNotConnected)
	a.FailNext(lease.ErrTimeout)
	a.FailNext(nil)
	a.FailNext(mine)
	_, err := a.Acquire(t.Context(), lease.Forever)
	require.ErrorIs(t, err, framework.ErrNotConnected)
	require.ErrorContains(t, err, "acquire /locks/orders: ")
	_, err = a.Acquire(t.Context(), lease.Forever)
	var timeout *lease.TimeoutError
	require.ErrorAs(t, err, &timeout)
	require.Equal(t, "/locks/orders", timeout.Path)
	held, err := a.Acquire(t.Context(), lease.Forever)
	require.NoError(t, err)
	_, err = a.Acquire(t.Context(), lease.Forever)
	require.Equal(t, mine, err)
	a.FailNext(lease.ErrOtherRecipe)
	_, err = a.Acquire(held.Context(), 0)
	require.ErrorIs(t, err, lease.ErrOtherRecipe, "also one that would re-enter")
	require.NoError(t, held.Release())
}

func TestConfirmFailsByFailConfirm(t *testing.T) {
	held, a := leasetest.NewLease(t.Context())
	a.FailConfirm(framework.ErrNotConnected)
	for range 2 {
		err := held.Confirm(t.Context())
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.ErrorContains(t, err, "confirm "+held.Path()+": ")
	}
	require.NoError(t, held.Err())
	a.FailConfirm(nil)
	require.NoError(t, held.Confirm(t.Context()))
	a.FailConfirm(framework.ErrNotConnected)
	require.NoError(t, held.Release())
	require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrReleased)
}

func TestLoseEndsAllLeases(t *testing.T) {
	a := &leasetest.Acquirer{Permits: 2}
	var all []*lease.Lease
	for range 2 {
		held, err := a.Acquire(t.Context(), 0)
		require.NoError(t, err)
		all = append(all, held)
	}
	require.Equal(t, 2, a.Held())
	a.Lose(framework.ErrSessionLost)
	require.Zero(t, a.Held())
	a.Lose(lease.ErrDeleted) // nothing is held any more
	a.RequestRevocation()
	for _, held := range all {
		require.False(t, conformance.Closed(held.RevocationRequested()))
		require.ErrorIs(t, held.Release(), framework.ErrSessionLost)
	}
	held, err := a.Acquire(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, held.Release())
}

func TestLoseWithoutAReason(t *testing.T) {
	held, a := leasetest.NewLease(t.Context())
	a.Lose(nil)
	require.ErrorIs(t, held.Err(), lease.ErrDeleted)
	require.ErrorContains(t, held.Release(), lease.ErrDeleted.Error())
}

func TestMisuseIsReported(t *testing.T) {
	for hint, a := range map[string]*leasetest.Acquirer{
		"Path: invalid path \"orders\"": {Path: "orders"},
		"Path: no recipe is at":         {Path: "/"},
		"Permits is -1":                 {Permits: -1},
	} {
		_, err := a.Acquire(t.Context(), 0)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.ErrorContains(t, err, hint)
	}
}

func TestHeldAndWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a leasetest.Acquirer
		held, err := a.Acquire(t.Context(), 0)
		require.NoError(t, err)
		inner, err := a.Acquire(held.Context(), 0)
		require.NoError(t, err)
		done := make(chan error)
		go func() {
			_, err := a.Acquire(t.Context(), time.Second)
			done <- err
		}()
		synctest.Wait()
		require.Equal(t, [2]int{1, 1}, [2]int{a.Held(), a.Waiting()})
		require.ErrorIs(t, <-done, lease.ErrTimeout)
		require.Equal(t, [2]int{1, 0}, [2]int{a.Held(), a.Waiting()})
		require.NoError(t, inner.Release())
		require.NoError(t, held.Release())
		require.Zero(t, a.Held())
	})
}

func TestNewLease(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	held, a := leasetest.NewLease(ctx)
	require.NoError(t, held.Err())
	require.Equal(t, "/leasetest/lock-0000000001", held.Path())
	other, _ := leasetest.NewLease(held.Context()) // of another Acquirer
	require.NoError(t, other.Release())
	require.Equal(t, 1, a.Held())
	require.Equal(t, framework.CheckOp(held.Path(), framework.AnyVersion), held.Check())
	cancel()
	require.Panics(t, func() { leasetest.NewLease(ctx) })
	require.NoError(t, held.Release())
}

// Without a bubble, by the clock of the machine, and with the race detector.
func TestManyGoroutinesExcludeEachOther(t *testing.T) {
	for _, permits := range []int{0, 3} {
		a := &leasetest.Acquirer{Permits: permits}
		var holders atomic.Int32
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%5 == 0 {
					time.AfterFunc(time.Duration(i)*10*time.Microsecond, cancel)
				}
				timeout := []time.Duration{0, time.Millisecond, lease.Forever}[i%3]
				err := lease.Do(ctx, a, timeout, func(ctx context.Context, held *lease.Lease) error {
					if n := holders.Add(1); n > int32(max(permits, 1)) {
						t.Errorf("%d hold", n)
					}
					defer holders.Add(-1)
					time.Sleep(100 * time.Microsecond)
					return nil
				})
				if err != nil && !errors.Is(err, lease.ErrTimeout) && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Zero(t, a.Held())
		require.Zero(t, a.Waiting())
	}
}
