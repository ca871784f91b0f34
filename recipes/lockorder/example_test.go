package lockorder_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two functions that are never called at the same time here, so that nothing blocks.
func Example() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	order := lockorder.New(func(c lockorder.Cycle) {
		for _, step := range c.Steps { // c.String has this, and the call stacks
			fmt.Printf("%s is wanted while %s is held\n", step.Wanted, step.Held)
		}
	})
	ctx := context.Background()
	client, err := framework.Connect(ctx, framework.Config{
		Servers: []string{server.Addr()}, Observers: []framework.Observer{order.Observer()},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	cart, err := mutex.New(client, "/locks/cart")
	if err != nil {
		log.Fatal(err)
	}
	stock, err := mutex.New(client, "/locks/stock")
	if err != nil {
		log.Fatal(err)
	}

	buy := func(ctx context.Context) error {
		return lease.Do(ctx, cart, 5*time.Second, func(ctx context.Context, _ *lease.Lease) error {
			return lease.Do(ctx, stock, 5*time.Second, func(context.Context, *lease.Lease) error { return nil })
		})
	}
	restock := func(ctx context.Context) error {
		return lease.Do(ctx, stock, 5*time.Second, func(ctx context.Context, _ *lease.Lease) error {
			return lease.Do(ctx, cart, 5*time.Second, func(context.Context, *lease.Lease) error { return nil })
		})
	}
	if err := buy(ctx); err != nil {
		log.Fatal(err)
	}
	if err := restock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// /locks/stock is wanted while /locks/cart is held
	// /locks/cart is wanted while /locks/stock is held
}
