package lease_test

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

// Work that is started under a lease, but must be excluded by it, waits for its
// release.
func ExampleWithoutOwner() {
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

	_, err = stock.Acquire(lease.WithoutOwner(held.Context()), 0)
	fmt.Println(errors.Is(err, lease.ErrTimeout))
	// Output: true
}
