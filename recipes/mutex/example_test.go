package mutex_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// One process at a time processes orders.
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

	orders, err := mutex.New(client, "/locks/orders")
	if err != nil {
		log.Fatal(err)
	}
	held, err := orders.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err) // after 5 seconds a lease.ErrTimeout, which says who holds the mutex
	}
	defer held.Release()

	// Work with held.Context(), which ends when the lease is lost, and give the token
	// to stores that refuse older ones.
	fmt.Println("valid:", held.Err() == nil, "token:", held.Token() > 0)
	// Output: valid: true token: true
}
