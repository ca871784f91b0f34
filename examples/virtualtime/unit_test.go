package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
)

// Unit tests of the Biller: its lock is a fake, which needs no server. With synctest
// they need no time either.

var errRefused = errors.New("refused")

// It stops in the middle of a bill when the lock is lost, waits, and goes on.
func TestStopsWhenTheLockIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lock leasetest.Acquirer
		ledger := newMemory(3, 10*time.Minute)
		began := time.Now()
		lost := time.AfterFunc(15*time.Minute, func() { lock.Lose(framework.ErrSessionLost) })
		defer lost.Stop()

		biller := &Biller{Lock: &lock, Ledger: ledger, Pause: time.Hour}
		require.NoError(t, biller.Run(t.Context()))

		require.NoError(t, ledger.check())
		require.ErrorIs(t, ledger.bills[1].err, lease.ErrLost)
		require.Equal(t, 15*time.Minute, ledger.bills[1].ended.Sub(began))
		require.Equal(t, time.Hour, ledger.bills[2].began.Sub(ledger.bills[1].ended))
		require.Zero(t, lock.Held())
	})
}

// It ends when its caller wants that: while it waits for the lock, in the middle of a
// bill, and in its pause. It keeps nothing then.
func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{
		"waits": 5 * time.Minute, "bills": 15 * time.Minute, "pauses": 50 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				began := time.Now()
				var lock leasetest.Acquirer
				another, err := lock.Acquire(t.Context(), 0)
				require.NoError(t, err)
				ended := make(chan error, 1)
				go func() {
					ended <- (&Biller{Lock: &lock, Ledger: newMemory(9, 10*time.Minute), Pause: time.Hour}).Run(ctx)
				}()
				<-time.After(4 * time.Minute)
				require.Equal(t, 1, lock.Waiting())
				if name != "waits" {
					require.NoError(t, another.Release())
				}
				<-time.After(36 * time.Minute)
				if name == "pauses" {
					lock.Lose(nil)
				}
				require.ErrorIs(t, <-ended, context.DeadlineExceeded)
				require.Zero(t, lock.Waiting())
				require.Equal(t, max(after, 40*time.Minute), time.Since(began))
				_ = another.Release()
				require.Zero(t, lock.Held())
			})
		})
	}
}

// It does not hide that the lock cannot be used, and gives it back when the ledger
// fails.
func TestOtherFailuresAreReturned(t *testing.T) {
	t.Parallel()
	var lock leasetest.Acquirer
	ledger := newMemory(3, 0)
	biller := &Biller{Lock: &lock, Ledger: ledger}
	lock.FailNext(lease.ErrForeignData)
	require.ErrorIs(t, biller.Run(t.Context()), lease.ErrForeignData)
	require.Empty(t, ledger.bills)

	biller.Ledger = broken{ledger}
	require.ErrorIs(t, biller.Run(t.Context()), errRefused)
	require.Zero(t, lock.Held())
}

// broken is a Ledger that bills nothing.
type broken struct{ *memory }

func (broken) Bill(context.Context, string, lease.Token) error { return errRefused }
