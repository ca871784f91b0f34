package rwlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/exampletest"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// connect starts a ZooKeeper server in this process and connects to it. In a real
// program there are only the addresses of an ensemble.
var connect = exampletest.Connect

func Example() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	prices, err := rwlock.New(client, "/locks/prices")
	if err != nil {
		panic(err)
	}
	one, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	two, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	fmt.Println("readers together:", one.Err() == nil, two.Err() == nil)

	_, err = prices.Write().Acquire(ctx, 0)
	fmt.Println("a writer beside them:", !errors.Is(err, lease.ErrTimeout))
	_ = one.Release()
	_ = two.Release()

	err = lease.Do(ctx, prices.Write(), 5*time.Second, func(context.Context, *lease.Lease) error {
		fmt.Println("a writer alone")
		return nil
	})
	fmt.Println(err)
	// Output:
	// readers together: true true
	// a writer beside them: false
	// a writer alone
	// <nil>
}

// Who writes and then reads with the lease's context lets no writer in between.
func ExampleLock_Read_downgrade() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	prices, err := rwlock.New(client, "/locks/prices")
	if err != nil {
		panic(err)
	}
	writing, err := prices.Write().Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	// Write, under writing.Context().
	reading, err := prices.Read().Acquire(writing.Context(), 5*time.Second)
	if err != nil {
		panic(err)
	}
	if err := writing.Release(); err != nil {
		panic(err)
	}
	// Read what was written, under reading.Context().
	fmt.Println("still reading:", reading.Err() == nil, reading.Context().Err() == nil)
	_, err = prices.Write().Acquire(ctx, 0)
	fmt.Println("another writer:", !errors.Is(err, lease.ErrTimeout))
	other, err := prices.Read().Acquire(ctx, 0)
	fmt.Println("another reader:", err == nil)
	fmt.Println(errors.Join(other.Release(), reading.Release()))
	// Output:
	// still reading: true true
	// another writer: false
	// another reader: true
	// <nil>
}

// A reader that wants to write has to release first: two who did not would wait for
// each other for ever.
func ExampleLock_Write_upgrade() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	prices, err := rwlock.New(client, "/locks/prices")
	if err != nil {
		panic(err)
	}
	reading, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	_, err = prices.Write().Acquire(reading.Context(), lease.Forever)
	fmt.Println(errors.Is(err, rwlock.ErrUpgrade))
	fmt.Println(reading.Release())
	writing, err := prices.Write().Acquire(ctx, 5*time.Second)
	fmt.Println(err)
	fmt.Println(writing.Release())
	// Output:
	// true
	// <nil>
	// <nil>
	// <nil>
}

func ExampleLock_Contenders() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	prices, err := rwlock.New(client, "/locks/prices", rwlock.WithHolder("shop"))
	if err != nil {
		panic(err)
	}
	one, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer one.Release()
	two, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer two.Release()

	queue, err := prices.Contenders(ctx)
	if err != nil {
		panic(err)
	}
	for _, c := range queue {
		fmt.Println(c.Holder.Who, c.Kind, c.Holding)
	}
	// Output:
	// shop reader true
	// shop reader true
}
