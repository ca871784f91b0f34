package leader_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A program can hold the term itself, and bound the wait for it.
func ExampleElection_Acquire() {
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

	first, err := leader.New(client, "/services/billing/leader", leader.WithID("node 1"))
	if err != nil {
		log.Fatal(err)
	}
	term, err := first.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer term.Release()

	second, err := leader.New(client, "/services/billing/leader", leader.WithID("node 2"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = second.Acquire(ctx, time.Second)
	var timeout *lease.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println("the leader is", timeout.Holder)
	}
	present, ok, err := second.Leader(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ok, present.Holder, present.Token == term.Token())
	// Output:
	// the leader is node 1
	// true node 1 true
}
