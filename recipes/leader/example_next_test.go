package leader_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A leader steps down in favour of the candidate db3, although db2 is ahead of that.
func ExampleElection_MakeNext() {
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

	election, err := leader.New(client, "/services/db/primary", leader.WithID("db1"))
	if err != nil {
		log.Fatal(err)
	}
	var others sync.WaitGroup
	err = election.Lead(ctx, func(term context.Context, _ *lease.Lease) error {
		fmt.Println("db1 leads")
		for _, id := range []string{"db2", "db3"} { // in your program: other processes
			others.Go(func() { leadOnce(ctx, server.Addr(), id) })
			awaitCandidate(term, election, id)
		}
		if _, err := election.MakeNext(term, "db3"); err != nil {
			return err
		}
		return leader.ErrStop
	})
	others.Wait()
	fmt.Println("error:", err)
	// Output:
	// db1 leads
	// db3 leads
	// db2 leads
	// error: <nil>
}

// leadOnce leads for one short term, with a client of its own.
func leadOnce(ctx context.Context, server, id string) {
	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	election, err := leader.New(client, "/services/db/primary", leader.WithID(id))
	if err != nil {
		log.Fatal(err)
	}
	err = election.Lead(ctx, func(context.Context, *lease.Lease) error {
		fmt.Println(id, "leads")
		return leader.ErrStop
	})
	if err != nil {
		log.Fatal(err)
	}
}

// awaitCandidate waits until there is a candidate with that id.
func awaitCandidate(ctx context.Context, election *leader.Election, id string) {
	has := func(c lease.Contender) bool { return c.Holder.Who == id }
	for tick := time.Tick(time.Millisecond); ; <-tick {
		all, err := election.Contenders(ctx)
		switch {
		case err != nil:
			log.Fatal(err)
		case slices.ContainsFunc(all, has):
			return
		}
	}
}
