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

// On a request for revocation, the leader hands over while its term is still valid.
func ExampleElection_Lead_handOver() {
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

	election, err := leader.New(client, "/services/billing/leader")
	if err != nil {
		log.Fatal(err)
	}
	err = election.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		if err := lease.RequestRevocation(ctx, client, term.Path()); err != nil { // as an operator does
			return err
		}
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), leader.ErrRevocationRequested) {
			fmt.Println("handing over, valid:", term.Err() == nil)
		}
		return leader.ErrStop
	})
	fmt.Println("error:", err)
	// Output:
	// handing over, valid: true
	// error: <nil>
}
