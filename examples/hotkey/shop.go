package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// wait is how long a customer waits for a share.
const wait = time.Minute

// A shop sells the stock, in one program of several.
type shop struct {
	stock *stock
	locks *striped.Locks // one for each share
}

func newShop(client *framework.Client, s *stock) (*shop, error) {
	n := len(s.shares)
	locks, err := striped.New(client, fmt.Sprintf("/examples/flash-sale/of-%d", n), n)
	if err != nil {
		return nil, err
	}
	return &shop{stock: s, locks: locks}, nil
}

// buy sells a piece to a customer, and returns false if there is none any more. After
// an error it may have sold one: who tries again needs an id of the order, by which the
// store knows it, as in examples/sql.
//
// AcquireAny does not know what a share is worth. A share that is sold out is soon free
// again, so it would be chosen again and again, while others have pieces left. So the
// shop asks the store first which shares have some. That is only a hint, as it is read
// without a lock: what counts is what the holder of the lock finds. As no share is ever
// filled up, a customer who is told that all are empty can be refused for good; and a
// share that is found empty with the lock is not hinted at again, so this ends.
func (s *shop) buy(ctx context.Context) (sold bool, err error) {
	for {
		open := s.stock.open()
		if len(open) == 0 {
			return false, nil
		}
		if sold, err := s.sellFrom(ctx, open); sold || err != nil {
			return sold, err
		}
	}
}

// sellFrom sells a piece of one of the open shares. It returns false if that is empty.
func (s *shop) sellFrom(ctx context.Context, open []int) (sold bool, err error) {
	held, share, err := s.acquire(ctx, open)
	if err != nil {
		return false, err
	}
	defer held.Release() // the store has said whether the lease was good for the sale
	return s.stock.shares[share].sell(held.Context(), held.Token())
}

// acquire acquires any share while all have pieces left, and then one of those that
// have.
func (s *shop) acquire(ctx context.Context, open []int) (held *lease.Lease, share int, err error) {
	if len(open) == len(s.stock.shares) {
		return s.locks.AcquireAny(ctx, wait)
	}
	share = open[rand.IntN(len(open))] //nolint:gosec // any of them will do
	held, err = s.locks.Stripe(share).Acquire(ctx, wait)
	return held, share, err
}
