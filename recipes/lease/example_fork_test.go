package lease_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Goroutines that work under one lease, and have to exclude each other for a part of
// it.
func ExampleFork() {
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

	stock, err := mutex.New(client, "/locks/stock")
	if err != nil {
		log.Fatal(err)
	}
	held, err := stock.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()

	left := 17
	var workers sync.WaitGroup
	for range 10 {
		workers.Go(func() {
			err := lease.Do(lease.Fork(held.Context()), stock, time.Minute, func(context.Context, *lease.Lease) error {
				left-- // one at a time
				return nil
			})
			if err != nil {
				log.Print(err)
			}
		})
	}
	workers.Wait()
	fmt.Println(left)
	// Output: 7
}
