package main

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A Biller bills all accounts, each once, although several processes have a Biller.
type Biller struct {
	// Lock is that of all Billers: a mutex, and in unit tests a fake.
	Lock lease.Acquirer
	// Ledger has the accounts.
	Ledger Ledger
	// Pause is how long it waits when it has lost the lock, before it tries again.
	Pause time.Duration
}

// A Ledger is a database. From the first call with a newer token on it refuses those
// with older ones: they come from a process that was paused, and does not know yet that
// it has lost the lock.
type Ledger interface {
	// Unbilled returns the accounts without a bill.
	Unbilled(ctx context.Context, token lease.Token) ([]string, error)
	// Bill bills an account, or does nothing if ctx ends first.
	Bill(ctx context.Context, account string, token lease.Token) error
}

// Run returns nil when all accounts are billed, by whatever Biller. While another one
// has the lock it waits. If it loses the lock itself, it stops, and tries again later.
func (b *Biller) Run(ctx context.Context) error {
	for {
		err := lease.Do(ctx, b.Lock, lease.Forever, b.billAll)
		if ctx.Err() != nil || !errors.Is(err, lease.ErrLost) {
			return err
		}
		if err := retry.Sleep(ctx, b.Pause); err != nil {
			return err
		}
	}
}

// billAll must be called with the lock held. ctx ends when it is lost, and nothing is
// billed from then on.
func (b *Biller) billAll(ctx context.Context, held *lease.Lease) error {
	accounts, err := b.Ledger.Unbilled(ctx, held.Token())
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if err := b.Ledger.Bill(ctx, account, held.Token()); err != nil {
			return err
		}
	}
	return nil
}
