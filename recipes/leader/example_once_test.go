package leader_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A migration is done once, by any of the processes.
func ExampleElection_Lead_once() {
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

	election, err := leader.New(client, "/services/billing/migration")
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	err = election.Lead(ctx, func(context.Context, *lease.Lease) error {
		if attempts++; attempts == 1 {
			return errors.New("the database is not up yet") // Lead tries again, after a pause
		}
		return leader.ErrStop
	})
	fmt.Println("attempts:", attempts, "error:", err)
	// Output: attempts: 2 error: <nil>
}
