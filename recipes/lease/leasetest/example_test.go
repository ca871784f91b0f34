package leasetest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
)

// A Shop is what is tested. In production its lock is a mutex.
type Shop struct {
	Lock  lease.Acquirer
	Stock int
}

var errBusy = errors.New("busy, try again")

// Sell takes one piece from the stock, under the lock.
func (s *Shop) Sell(ctx context.Context) error {
	err := lease.Do(ctx, s.Lock, time.Second, func(context.Context, *lease.Lease) error {
		s.Stock--
		return nil
	})
	if errors.Is(err, lease.ErrTimeout) {
		return errBusy
	}
	return err
}

// The unit test of code that takes a lease.Acquirer.
func Example() {
	var lock leasetest.Acquirer
	shop := &Shop{Lock: &lock, Stock: 7}
	ctx := context.Background()

	fmt.Println(shop.Sell(ctx), shop.Stock)
	fmt.Println("still held:", lock.Held())

	lock.FailNext(lease.ErrTimeout)
	fmt.Println(shop.Sell(ctx), shop.Stock)
	// Output:
	// <nil> 6
	// still held: 0
	// busy, try again 6
}
