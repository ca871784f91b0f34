package rwlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Readers share the lock, and a writer excludes them.
func Example() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()
	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	prices, err := rwlock.New(client, "/locks/prices")
	if err != nil {
		log.Fatal(err)
	}
	reading, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	err = lease.Do(ctx, prices.Read(), 5*time.Second, func(context.Context, *lease.Lease) error {
		fmt.Println("two readers")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = prices.Write().Acquire(ctx, 0)
	fmt.Println("a writer has to wait:", errors.Is(err, lease.ErrTimeout))
	if err := reading.Release(); err != nil {
		log.Fatal(err)
	}

	writing, err := prices.Write().Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer writing.Release()
	fmt.Println("one writer:", writing.Err() == nil)
	// Output:
	// two readers
	// a writer has to wait: true
	// one writer: true
}
