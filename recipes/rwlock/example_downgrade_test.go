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

// A writer that acquires the read lock with its lease's context, and then releases the
// write lock, admits no other writer in between.
func ExampleLock_Read_downgrade() {
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
	writing, err := prices.Write().Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	// Write, with writing.Context().
	reading, err := prices.Read().Acquire(writing.Context(), 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer reading.Release()
	if err := writing.Release(); err != nil {
		log.Fatal(err)
	}

	// Read what was written, with reading.Context().
	fmt.Println("still reading:", reading.Err() == nil)
	_, err = prices.Write().Acquire(ctx, 0)
	fmt.Println("another writer has to wait:", errors.Is(err, lease.ErrTimeout))
	other, err := prices.Read().Acquire(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer other.Release()
	fmt.Println("another reader:", other.Err() == nil)
	// Output:
	// still reading: true
	// another writer has to wait: true
	// another reader: true
}
