package inspect_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Which locks are in use, and who holds each.
func ExampleLocks() {
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

	cart, err := mutex.New(client, "/locks/cart", mutex.WithHolder("web"))
	if err != nil {
		log.Fatal(err)
	}
	imports, err := semaphore.New(client, "/locks/imports", 3, semaphore.WithHolder("nightly"))
	if err != nil {
		log.Fatal(err)
	}
	held, err := cart.Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()
	permit, err := imports.Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer permit.Release()

	found, err := inspect.Locks(ctx, client, "/locks")
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Locks {
		fmt.Printf("%s: %s, held by %s, %d hold and %d wait\n", l.Path, l.Recipe, l.Head.Holder.Who, l.Holding, l.Waiting)
	}
	// Output:
	// /locks/cart: lock, held by web, 1 hold and 0 wait
	// /locks/imports: semaphore, held by nightly, 1 hold and 0 wait
}
