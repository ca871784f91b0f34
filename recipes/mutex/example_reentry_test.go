package mutex_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The lease's context re-enters the mutex. Any other context waits for it, also in the
// same goroutine.
func ExampleMutex_Acquire_reentry() {
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

	fmt.Println("with the lease's context:", count(held.Context(), stock))
	fmt.Println("with another context:", errors.Is(count(ctx, stock), lease.ErrTimeout))
	// Output:
	// with the lease's context: <nil>
	// with another context: true
}

// count acquires the mutex itself, so that it can be called with and without it.
func count(ctx context.Context, stock *mutex.Mutex) error {
	held, err := stock.Acquire(ctx, 0)
	if err != nil {
		return err
	}
	return held.Release()
}
