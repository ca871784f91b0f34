package zktest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A session expires while its client holds a lock.
func ExampleServer_ExpireSession() {
	server, err := zktest.Start() // in a test: zktest.NewServer(t)
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
	jobs, err := mutex.New(client, "/locks/jobs")
	if err != nil {
		log.Fatal(err)
	}
	held, err := jobs.Acquire(ctx, time.Second)
	if err != nil {
		log.Fatal(err)
	}

	server.ExpireSession(client.Session().ID())
	<-held.Context().Done() // work under the lock uses this context, so it stops
	fmt.Println("lost:", errors.Is(held.Err(), lease.ErrLost))

	again, err := jobs.Acquire(ctx, 10*time.Second) // in a new session
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("acquired again:", again.Err() == nil)
	fmt.Println("released:", again.Release() == nil)
	// Output:
	// lost: true
	// acquired again: true
	// released: true
}
