// Command mutex shows a lock that works across goroutines, processes and machines:
// several workers book amounts into one account, one at a time.
//
//	go run ./examples/mutex
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one. Start it twice at the same time so: the two programs exclude each other as
// well.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

const (
	workers  = 3
	bookings = 4 // of each worker
)

var program = example.Program{Name: "mutex", Run: run}

func main() { program.Main() }

// run connects and runs the workers.
func run(ctx context.Context, servers []string, out io.Writer) error {
	connecting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, err := framework.Connect(connecting, framework.Config{Servers: servers})
	if err != nil {
		return err
	}
	defer client.Close()

	// All goroutines may share one Mutex. Each Acquire makes a new owner.
	orders, err := mutex.New(client, "/examples/orders")
	if err != nil {
		return err
	}
	account := &account{out: out}
	failed := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { failed[i] = work(ctx, i+1, orders, account) })
	}
	all.Wait()
	fmt.Fprintf(out, "balance %d\n", account.balance)
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if account.balance != workers*bookings {
		return fmt.Errorf("balance %d after %d bookings", account.balance, workers*bookings)
	}
	return nil
}

// work books some amounts. Acquire and Release suit work that begins and ends in
// different functions. Otherwise lease.Do is shorter.
func work(ctx context.Context, worker int, orders *mutex.Mutex, to *account) error {
	held, err := orders.Acquire(ctx, 5*time.Second)
	if err != nil {
		return fmt.Errorf("worker %d: %w", worker, err) // an ErrTimeout says who holds the lock
	}
	err = to.book(held.Context(), worker, held.Token())
	if err := errors.Join(err, held.Release()); err != nil {
		return fmt.Errorf("worker %d: %w", worker, err)
	}
	for range bookings - 1 {
		err := lease.Do(ctx, orders, 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
			return to.book(ctx, worker, held.Token())
		})
		if err != nil {
			return fmt.Errorf("worker %d: %w", worker, err)
		}
	}
	return nil
}

// An account has no sync.Mutex: it relies on the lock in ZooKeeper. It also checks the
// token: a holder that was paused may not know yet that it lost the lock, but its token
// is smaller than that of the next holder.
type account struct {
	out     io.Writer
	balance int
	newest  lease.Token
}

// book must be called with the lock held. ctx ends when the lock is lost, so work that
// takes time should stop then.
func (a *account) book(ctx context.Context, worker int, token lease.Token) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if token < a.newest {
		return fmt.Errorf("refused: token %v is older than %v", token, a.newest)
	}
	a.newest = token
	a.balance++
	fmt.Fprintf(a.out, "worker %d books with token %v\n", worker, token)
	return nil
}
