package leader_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A process that is no candidate can follow the leader too.
func ExampleElection_Observe() {
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

	election, err := leader.New(client, "/services/billing/leader", leader.WithID("node 1"))
	if err != nil {
		log.Fatal(err)
	}
	term, err := election.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	for present, err := range election.Observe(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if present.Node == "" {
			fmt.Println("no leader")
			break
		}
		fmt.Println("the leader is", present.Holder)
		if err := term.Release(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// the leader is node 1
	// no leader
}
