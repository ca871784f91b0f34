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

// A leader is killed. What it has sent elsewhere has a moment to arrive before the next
// one leads.
func ExampleWithLockDelay() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()
	campaign := func(lead func(client *framework.Client)) {
		client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
		if err != nil {
			log.Fatal(err)
		}
		defer client.Close()
		election, err := leader.New(client, "/services/billing/leader", leader.WithLockDelay(300*time.Millisecond))
		if err != nil {
			log.Fatal(err)
		}
		err = election.Lead(ctx, func(context.Context, *lease.Lease) error {
			lead(client)
			return leader.ErrStop
		})
		if err != nil {
			fmt.Println("the term was lost")
		}
	}

	var killed time.Time
	campaign(func(client *framework.Client) {
		fmt.Println("node 1 leads")
		client.Close() // in reality: the process is killed
		killed = time.Now()
	})
	campaign(func(*framework.Client) {
		fmt.Println("node 2 leads, after the delay:", time.Since(killed) >= 300*time.Millisecond)
	})
	// Output:
	// node 1 leads
	// the term was lost
	// node 2 leads, after the delay: true
}
