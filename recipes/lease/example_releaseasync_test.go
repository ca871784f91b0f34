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

// ReleaseAsync does not wait for the server. So a program that locks one thing after
// another spends one round trip on each, not two.
func ExampleLease_ReleaseAsync() {
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
	defer client.Close() // without this the last lock might stay taken for a while

	var last *lease.Lease
	for _, account := range []string{"anna", "bert", "carla"} {
		lock, err := mutex.New(client, "/locks/"+account)
		if err != nil {
			log.Fatal(err)
		}
		held, err := lock.Acquire(ctx, 5*time.Second)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("interest for", account)
		if err := held.ReleaseAsync(); err != nil { // the lease was lost, as far as the client knows
			log.Fatal(err)
		}
		last = held
	}
	fmt.Println(last.Err() != nil)
	// Output:
	// interest for anna
	// interest for bert
	// interest for carla
	// true
}
