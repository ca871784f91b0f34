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

// A store that remembers the greatest token it has seen can refuse late writes of an
// earlier holder.
func ExampleLease_Token() {
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

	var newest lease.Token // in the store
	write := func(token lease.Token) bool {
		if token < newest {
			return false
		}
		newest = token
		return true
	}

	first, err := stock.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the first writes:", write(first.Token()))
	if err := first.Release(); err != nil {
		log.Fatal(err)
	}

	second, err := stock.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Release()
	fmt.Println("the second writes:", write(second.Token()))
	fmt.Println("the first writes again:", write(first.Token()))
	// Output:
	// the first writes: true
	// the second writes: true
	// the first writes again: false
}
