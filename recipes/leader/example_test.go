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

var errShutdown = errors.New("shutdown")

// One process of a service does the billing. Lead returns when the process is told to
// stop.
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

	election, err := leader.New(client, "/services/billing/leader")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(ctx) // in your program: signal.NotifyContext
	err = election.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		fmt.Println("leading, valid:", term.Err() == nil)
		stop(errShutdown)
		<-ctx.Done() // work until then: it ends also when the term is lost
		return ctx.Err()
	})
	fmt.Println("shut down:", errors.Is(err, errShutdown))
	// Output:
	// leading, valid: true
	// shut down: true
}
