package leader_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/exampletest"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// connect starts a ZooKeeper server in this process and connects to it. In a real
// program there are only the addresses of an ensemble.
var connect = exampletest.Connect

// A service in which one process at a time does the billing. Lead returns when the
// process is told to stop.
func Example() {
	ctx, stop := context.WithCancelCause(context.Background())
	client, disconnect := connect(ctx)
	defer disconnect()

	election, err := leader.New(client, "/services/billing/leader", leader.WithID("node 1"))
	if err != nil {
		panic(err)
	}
	shutdown := errors.New("told to stop")
	err = election.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		fmt.Println("leading, alone:", term.Err() == nil)
		stop(shutdown) // in a real program, a signal
		<-ctx.Done()   // also when the term is lost
		return ctx.Err()
	})
	fmt.Println(errors.Is(err, shutdown))
	// Output:
	// leading, alone: true
	// true
}

// What has to be done once, by any of the processes.
func ExampleElection_Lead_once() {
	ctx := context.Background()
	client, disconnect := connect(ctx)
	defer disconnect()

	election, err := leader.New(client, "/services/billing/migration")
	if err != nil {
		panic(err)
	}
	attempts := 0
	err = election.Lead(ctx, func(context.Context, *lease.Lease) error {
		if attempts++; attempts == 1 {
			return errors.New("the database is not up yet") // it tries again, after a pause
		}
		return leader.ErrStop
	})
	fmt.Println(attempts, err)
	// Output: 2 <nil>
}

// A leader that is asked to give way hands over while its term is still valid.
func ExampleElection_Lead_handOver() {
	ctx := context.Background()
	client, disconnect := connect(ctx)
	defer disconnect()

	election, err := leader.New(client, "/services/billing/leader", leader.WithID("node 1"))
	if err != nil {
		panic(err)
	}
	err = election.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		if err := lease.RequestRevocation(ctx, client, term.Path()); err != nil { // what an operator does
			return err
		}
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), leader.ErrRevocationRequested) {
			fmt.Println("handing over, still alone:", term.Err() == nil)
		}
		return leader.ErrStop
	})
	fmt.Println(err)
	// Output:
	// handing over, still alone: true
	// <nil>
}

// A term of one's own, with a bounded wait.
func ExampleElection_Acquire() {
	ctx := context.Background()
	client, disconnect := connect(ctx)
	defer disconnect()

	first, err := leader.New(client, "/services/billing/leader", leader.WithID("node 1"))
	if err != nil {
		panic(err)
	}
	term, err := first.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer term.Release()

	second, err := leader.New(client, "/services/billing/leader", leader.WithID("node 2"))
	if err != nil {
		panic(err)
	}
	_, err = second.Acquire(ctx, time.Second)
	var timeout *lease.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println("the leader is", timeout.Holder)
	}
	present, ok, err := second.Leader(ctx)
	fmt.Println(present.Holder, ok, err, present.Token == term.Token())
	// Output:
	// the leader is node 1
	// node 1 true <nil> true
}

// A process that follows the leader, whoever that is.
func ExampleElection_Observe() {
	ctx := context.Background()
	client, disconnect := connect(ctx)
	defer disconnect()

	election, err := leader.New(client, "/services/billing/leader", leader.WithID("node 1"))
	if err != nil {
		panic(err)
	}
	term, err := election.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	for present, err := range election.Observe(ctx) {
		if err != nil {
			panic(err)
		}
		if present.Node == "" {
			fmt.Println("nobody leads")
			break
		}
		fmt.Println("the leader is", present.Holder)
		_ = term.Release()
	}
	// Output:
	// the leader is node 1
	// nobody leads
}
