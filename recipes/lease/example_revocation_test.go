package lease_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A holder that releases early when an operator requests it.
func ExampleLease_RevocationRequested() {
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
	go func() { // another program, or "zkrecipes revoke /locks/stock"
		if err := lease.RequestRevocation(ctx, client, held.Path()); err != nil {
			log.Print(err)
		}
	}()

	for {
		select {
		case <-held.Done():
			fmt.Println("lost:", held.Err())
			return
		case <-held.RevocationRequested():
			fmt.Println("requested, still valid:", held.Err() == nil)
			fmt.Println("released:", held.Release())
			return
		case <-time.After(10 * time.Millisecond):
			// a part of the work
		}
	}
	// Output:
	// requested, still valid: true
	// released: <nil>
}
