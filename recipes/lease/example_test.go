package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/exampletest"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// connect starts a ZooKeeper server in this process and connects to it. In a real
// program there are only the addresses of an ensemble.
var connect = exampletest.Connect

// Do acquires, works and releases. Its error is nil only if the work succeeded and the
// lease lasted until it had.
func ExampleDo() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	stock, err := mutex.New(client, "/locks/stock")
	if err != nil {
		panic(err)
	}
	left := 7
	err = lease.Do(ctx, stock, 5*time.Second, func(ctx context.Context, _ *lease.Lease) error {
		left--
		return ctx.Err()
	})
	fmt.Println(left, err)
	// Output: 6 <nil>
}

// Check makes a write to ZooKeeper fail unless the lease stands when it takes effect,
// even if this process does not know yet that it has lost it.
func ExampleLease_Check() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()
	if _, err := client.Create(ctx, "/stock", []byte("7"), framework.Persistent); err != nil {
		panic(err)
	}
	m, err := mutex.New(client, "/locks/stock")
	if err != nil {
		panic(err)
	}
	held, err := m.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}

	_, err = client.Multi(ctx, held.Check(), framework.SetOp("/stock", []byte("6"), framework.AnyVersion))
	fmt.Println("while it is held:", err)

	if err := held.Release(); err != nil {
		panic(err)
	}
	_, err = client.Multi(ctx, held.Check(), framework.SetOp("/stock", []byte("5"), framework.AnyVersion))
	fmt.Println("afterwards, refused:", errors.Is(err, framework.ErrNoNode))
	data, _, err := client.Get(ctx, "/stock")
	fmt.Println(string(data), err)
	// Output:
	// while it is held: <nil>
	// afterwards, refused: true
	// 6 <nil>
}

// A store that remembers the greatest token it has seen can refuse whoever comes late
// with an old one.
func ExampleLease_Token() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()
	m, err := mutex.New(client, "/locks/stock")
	if err != nil {
		panic(err)
	}
	var newest lease.Token
	write := func(token lease.Token) bool {
		if token < newest {
			return false
		}
		newest = token
		return true
	}

	first, err := m.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	fmt.Println("the first writes:", write(first.Token()))
	_ = first.Release()

	second, err := m.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer second.Release()
	fmt.Println("the second writes:", write(second.Token()))
	fmt.Println("the first writes again:", write(first.Token()))
	// Output:
	// the first writes: true
	// the second writes: true
	// the first writes again: false
}

// Work that must be excluded by a lease, although it is started under it, waits like a
// stranger.
func ExampleWithoutOwner() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()
	m, err := mutex.New(client, "/locks/stock")
	if err != nil {
		panic(err)
	}
	held, err := m.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	_, err = m.Acquire(lease.WithoutOwner(held.Context()), 0)
	fmt.Println(errors.Is(err, lease.ErrTimeout))
	// Output: true
}

// Workers that share the work under one lease, and have to exclude each other for a
// part of it.
func ExampleFork() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()
	m, err := mutex.New(client, "/locks/stock")
	if err != nil {
		panic(err)
	}
	held, err := m.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	stock := 0
	var workers sync.WaitGroup
	for range 10 {
		workers.Go(func() {
			_ = lease.Do(lease.Fork(held.Context()), m, time.Minute, func(context.Context, *lease.Lease) error {
				stock++ // one at a time
				return nil
			})
		})
	}
	workers.Wait()
	fmt.Println(stock)
	// Output: 10
}
