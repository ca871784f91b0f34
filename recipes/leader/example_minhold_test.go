package leader_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The configuration is published at most once in a while, however fast leaders come and
// go.
func ExampleWithMinHold() {
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

	election, err := leader.New(client, "/services/config/publisher", leader.WithMinHold(300*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	began := time.Now()
	for range 2 {
		err := election.Lead(ctx, func(context.Context, *lease.Lease) error {
			fmt.Println("published")
			return leader.ErrStop // the term is over at once; others wait for the rest
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("not too soon:", time.Since(began) >= 600*time.Millisecond) // Lead has released
	// Output:
	// published
	// published
	// not too soon: true
}
