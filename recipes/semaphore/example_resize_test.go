package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The path stores the size, so that all clients agree. A tool that changes the size
// need not know it.
func ExampleSemaphore_Resize() {
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

	workers, err := semaphore.New(client, "/limits/workers", 1)
	if err != nil {
		log.Fatal(err)
	}
	first, err := workers.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Release()

	tool, err := semaphore.New(client, "/limits/workers", 0) // adopt the stored size
	if err != nil {
		log.Fatal(err)
	}
	if err := tool.Resize(ctx, 2); err != nil {
		log.Fatal(err)
	}
	second, err := workers.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Release()
	fmt.Println("both hold:", first.Err() == nil, second.Err() == nil)

	old, err := semaphore.New(client, "/limits/workers", 1) // a process that starts now
	if err != nil {
		log.Fatal(err)
	}
	_, err = old.Acquire(ctx, 0)
	fmt.Println(errors.Is(err, semaphore.ErrSizeMismatch), err)
	// Output:
	// both hold: true true
	// true acquire /limits/workers: the number of permits differs from the one stored at the path: 1 given, 2 stored
}
