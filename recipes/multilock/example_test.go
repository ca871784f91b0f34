package multilock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A purchase needs a cart and the stock of an article, or neither.
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

	cart, err := mutex.New(client, "/locks/cart/1234")
	if err != nil {
		log.Fatal(err)
	}
	stock, err := mutex.New(client, "/locks/stock/teapot")
	if err != nil {
		log.Fatal(err)
	}
	purchase, err := multilock.New([]lease.Acquirer{cart, stock})
	if err != nil {
		log.Fatal(err)
	}
	err = lease.Do(ctx, purchase, 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
		tokens := held.Tokens() // one for the store of each: they have no common one
		fmt.Println("valid:", held.Err() == nil, "tokens:", len(tokens), "token:", held.Token())
		return nil
	})
	fmt.Println(err)
	// Output:
	// valid: true tokens: 2 token: 0
	// <nil>
}
