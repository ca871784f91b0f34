package inspect_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two parts of a program take two locks in different orders, and wait for each other.
func ExampleCycles() {
	server, err := zktest.Start() // a ZooKeeper server in this process
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

	cart, err := mutex.New(client, "/locks/cart")
	if err != nil {
		log.Fatal(err)
	}
	stock, err := mutex.New(client, "/locks/stock")
	if err != nil {
		log.Fatal(err)
	}
	web, err := cart.Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer web.Release()
	billing, err := stock.Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer billing.Release()
	// With the contexts of the leases, so that the nodes say what they hold.
	go func() { _, _ = stock.Acquire(web.Context(), lease.Forever) }()
	go func() { _, _ = cart.Acquire(billing.Context(), lease.Forever) }()

	for {
		found, err := inspect.Cycles(ctx, client, "/locks")
		if err != nil {
			log.Fatal(err)
		}
		for _, cycle := range found.Cycles {
			for _, link := range cycle.Links {
				fmt.Println("one holds", link.Holds, "and waits for", link.WaitsFor)
			}
		}
		if len(found.Cycles) > 0 {
			break
		}
	}
	// Output:
	// one holds /locks/stock and waits for /locks/cart
	// one holds /locks/cart and waits for /locks/stock
}
