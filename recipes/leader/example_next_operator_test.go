package leader_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An operator, whose program is no candidate, moves the leadership to db3, before the
// machine of db1 is switched off.
func ExampleElection_MakeNext_operator() {
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

	election, err := leader.New(client, "/services/db/primary")
	if err != nil {
		log.Fatal(err)
	}
	var candidates sync.WaitGroup
	candidacy, stop := context.WithCancel(ctx)
	for _, id := range []string{"db1", "db2", "db3"} { // in your program: other processes
		candidates.Go(func() { leadUntilRevoked(candidacy, server.Addr(), id) })
		awaitCandidate(ctx, election, id)
	}

	present, err := election.MakeNext(ctx, "db3")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the leader is", present.Holder)
	if err := lease.RequestRevocation(ctx, client, present.Path); err != nil {
		log.Fatal(err)
	}
	for next, err := range election.Observe(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if next.Node != present.Node {
			fmt.Println("the leader is", next.Holder)
			break
		}
	}
	stop()
	candidates.Wait()
	// Output:
	// the leader is db1
	// the leader is db3
}

// leadUntilRevoked is a candidate with a client of its own. When revocation of its term
// is requested, it campaigns for another.
func leadUntilRevoked(ctx context.Context, server, id string) {
	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	election, err := leader.New(client, "/services/db/primary", leader.WithID(id))
	if err != nil {
		log.Fatal(err)
	}
	_ = election.Lead(ctx, func(ctx context.Context, _ *lease.Lease) error { // it ends with ctx
		<-ctx.Done() // work until then
		return nil
	})
}
