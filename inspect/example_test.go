package inspect_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Who has permits of a semaphore, and how many are free.
func Example() {
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

	downloads, err := semaphore.New(client, "/limits/downloads", 3, semaphore.WithHolder("mirror"))
	if err != nil {
		log.Fatal(err)
	}
	held, err := downloads.Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()

	found, err := inspect.Path(ctx, client, "/limits/downloads")
	if err != nil {
		log.Fatal(err)
	}
	for _, queue := range found.Queues {
		for i, c := range queue.Contenders {
			fmt.Println(queue.Recipe, i+1, c.State, c.Holder.Who)
		}
	}
	if p := found.Permits; p != nil {
		fmt.Println(p.Free, "of", p.Size, "permits are free")
	}
	// Output:
	// semaphore 1 held mirror
	// 2 of 3 permits are free
}

// Which stripes are held, and by whom.
func Example_stripes() {
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

	accounts, err := striped.New(client, "/locks/accounts", 64, striped.WithHolder("booking"))
	if err != nil {
		log.Fatal(err)
	}
	held, err := accounts.For("4711").Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()

	found, err := inspect.Path(ctx, client, "/locks/accounts")
	if err != nil {
		log.Fatal(err)
	}
	for _, queue := range found.Queues {
		for i, c := range queue.Contenders {
			fmt.Println(queue.Recipe, queue.Stripe, i+1, c.State, c.Holder.Who)
		}
	}
	if s := found.Stripes; s != nil {
		fmt.Println(s.Free, "of", s.Size, "stripes are free")
	}
	// Output:
	// stripe 42 1 held booking
	// 63 of 64 stripes are free
}
