package mutex_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/exampletest"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// connect starts a ZooKeeper server in this process and connects to it. In a real
// program there are only the addresses of an ensemble.
var connect = exampletest.Connect

func Example() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	orders, err := mutex.New(client, "/locks/orders")
	if err != nil {
		panic(err)
	}
	held, err := orders.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	// Work under held.Context(): it ends when the lock may no longer be ours.
	fmt.Println("alone:", held.Err() == nil)
	// Output: alone: true
}

// A timeout of 0 takes the mutex only if it is free. The error says how many are in the
// way, and after a wait also who is the first of them.
func ExampleMutex_Acquire_try() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	backup, err := mutex.New(client, "/locks/backup", mutex.WithHolder("nightly backup"))
	if err != nil {
		panic(err)
	}
	held, err := backup.Acquire(ctx, 0)
	if err != nil {
		panic(err)
	}

	_, err = backup.Acquire(ctx, 0)
	fmt.Println("in time:", !errors.Is(err, lease.ErrTimeout))

	var timeout *lease.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println("ahead:", timeout.Ahead)
	}
	fmt.Println("released:", held.Release() == nil)
	// Output:
	// in time: false
	// ahead: 1
	// released: true
}

// The lease's context enters the mutex again; any other context waits for it, also in
// the same goroutine.
func ExampleMutex_Acquire_again() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	stock, err := mutex.New(client, "/locks/stock")
	if err != nil {
		panic(err)
	}
	held, err := stock.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	inner, err := stock.Acquire(held.Context(), 0)
	fmt.Println("entered again:", err == nil, "under one token:", inner.Token() == held.Token())
	_, err = stock.Acquire(ctx, 0)
	fmt.Println("a stranger:", errors.Is(err, lease.ErrTimeout))
	fmt.Println(inner.Release())
	// Output:
	// entered again: true under one token: true
	// a stranger: true
	// <nil>
}

func ExampleMutex_Contenders() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	report, err := mutex.New(client, "/locks/report", mutex.WithHolder("monthly report"))
	if err != nil {
		panic(err)
	}
	held, err := report.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	queue, err := report.Contenders(ctx)
	if err != nil {
		panic(err)
	}
	for i, c := range queue {
		fmt.Println(i, c.Holder.Who, c.Token == held.Token())
	}
	// Output: 0 monthly report true
}
