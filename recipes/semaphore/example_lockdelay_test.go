package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A process ends that has not released its permit, and what it has begun may still
// run: for a while one permit less can be acquired.
func ExampleWithLockDelay() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()
	connect := func() (*framework.Client, *semaphore.Semaphore) {
		client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
		if err != nil {
			log.Fatal(err)
		}
		queries, err := semaphore.New(client, "/limits/queries", 2, semaphore.WithSingleQueue(), semaphore.WithLockDelay(time.Minute))
		if err != nil {
			log.Fatal(err)
		}
		return client, queries
	}

	first, queries := connect()
	if _, err := queries.Acquire(ctx, 5*time.Second); err != nil {
		log.Fatal(err)
	}
	first.Close() // the process ends, and the database goes on with the query

	second, queries := connect()
	defer second.Close()
	held, err := queries.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()
	fmt.Println("one permit:", held.Err() == nil)
	_, err = queries.Acquire(ctx, 0)
	fmt.Println("the other one is closed:", errors.Is(err, lease.ErrLockDelay))
	// Output:
	// one permit: true
	// the other one is closed: true
}
