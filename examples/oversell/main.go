// Command oversell sells the last articles of a shop to more customers than there are
// articles, first without locks, and then with a lock on the cart and the stock
// together. It needs nothing but Go:
//
//	go run ./examples/oversell
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

const (
	articles  = 5
	customers = 4
	devices   = 3 // on which each customer shops at the same time
)

// The order in which the locks are given to multilock.New, and so that of the tokens.
const (
	cartToken = iota
	stockToken
)

var program = example.Program{Name: "oversell", Run: run}

func main() { program.Main() }

// run sells all articles twice.
func run(ctx context.Context, servers []string, out io.Writer) error {
	unlocked := newShop(articles, customers)
	if err := rush(unlocked.buyWithoutLocks()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d articles, without locks: %v\n", articles, unlocked)

	locked := newShop(articles, customers)
	if err := rush(locked.buyWithLocks(ctx, servers)); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d articles, with both locks: %v\n", articles, locked)
	if unlocked.sold.Load() <= articles || !locked.soldOnce() {
		return errors.New("not as it has to be: oversold without locks, and each article sold once with them")
	}
	return nil
}

// rush has all customers buy on all their devices at the same time.
func rush(buy func(customer int) error) error {
	errs := make([]error, customers*devices)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = buy(i % customers) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// buyWithoutLocks returns a function with which all see the same stock and the same
// carts before anyone writes.
func (s *shop) buyWithoutLocks() func(customer int) error {
	var reads sync.WaitGroup
	reads.Add(customers * devices)
	return func(customer int) error {
		return s.move(customer, make([]lease.Token, 2), func() {
			reads.Done()
			reads.Wait()
		})
	}
}

// buyWithLocks returns a function that has a client of its own for each device, as if
// each was served by another machine.
func (s *shop) buyWithLocks(ctx context.Context, servers []string) func(customer int) error {
	return func(customer int) error {
		client, err := framework.Connect(ctx, framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer client.Close()
		purchase, err := lockFor(client, customer)
		if err != nil {
			return err
		}
		return lease.Do(ctx, purchase, time.Minute, func(ctx context.Context, held *lease.Lease) error {
			return s.move(customer, held.Tokens(), func() {})
		})
	}
}

// lockFor returns the lock on the cart of a customer and the stock.
func lockFor(client *framework.Client, customer int) (*multilock.Lock, error) {
	cart, err := mutex.New(client, fmt.Sprintf("/examples/carts/%d", customer))
	if err != nil {
		return nil, err
	}
	stock, err := mutex.New(client, "/examples/stock")
	if err != nil {
		return nil, err
	}
	return multilock.New([]lease.Acquirer{cartToken: cart, stockToken: stock})
}
