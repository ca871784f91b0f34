package main

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// wait is how long a customer waits for the others. It is longer than a session, so
// that one whose process has died does not stop the sale; and than one may hold the
// lock, so that one whose database or bank does not answer does not either.
const wait, longest = time.Minute, 20 * time.Second

// A shop sells one article, in one program of several.
type shop struct {
	lock  *mutex.Mutex
	stock shelf
	// pay reserves the money for an order, elsewhere: once, however often it is called.
	pay func(ctx context.Context, order string) error
}

// A shelf is a stock, as the shop uses it.
type shelf interface {
	read(ctx context.Context, token lease.Token) (left int64, err error)
	confirmed(ctx context.Context, order string) (bool, error)
	sell(ctx context.Context, token lease.Token, order string, left int64) error
}

// newShop returns a shop for that article, which has a lock of its own.
func newShop(client *framework.Client, article string, stock shelf) (*shop, error) {
	lock, err := mutex.New(client, "/examples/sql/"+article, mutex.WithMaxHold(longest))
	if err != nil {
		return nil, err
	}
	return &shop{lock: lock, stock: stock, pay: func(context.Context, string) error { return nil }}, nil
}

// buy sells a piece, and returns false if there is none any more. After an error it is
// called again with the same order, which is not sold twice: it is not known whether a
// database has committed that does not answer. What was reserved for an order that is
// not confirmed in the end is given back.
func (s *shop) buy(ctx context.Context, order string) (sold bool, err error) {
	err = lease.Do(ctx, s.lock, wait, func(ctx context.Context, held *lease.Lease) error {
		sold, err = purchase(ctx, s.stock, held.Token(), order, s.pay)
		return err
	})
	if sold {
		// The row has compared the token, so it does not matter whether the lease has
		// lived until now.
		return true, nil
	}
	return false, err
}

// purchase is what the lock is for. Between its read and its write nobody else may
// sell a piece: else both sell the same. As somebody is asked for money in between,
// which takes long, this is not a transaction of the database. Where nothing is in
// between there is no need for a lock: UPDATE … SET pieces = pieces - 1 WHERE pieces > 0.
func purchase(ctx context.Context, stock shelf, token lease.Token, order string, pay func(context.Context, string) error) (sold bool, err error) {
	left, err := stock.read(ctx, token)
	if err != nil {
		return false, err
	}
	if sold, err := stock.confirmed(ctx, order); sold || err != nil {
		return sold, err // by a call whose answer was lost
	}
	if left == 0 {
		return false, nil
	}
	if err := pay(ctx, order); err != nil {
		return false, err
	}
	err = stock.sell(ctx, token, order, left-1)
	return err == nil, err
}
