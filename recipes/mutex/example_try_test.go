package mutex_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A timeout of 0 acquires the mutex only if it is free. The error says how many are
// ahead, and after a wait also who holds the mutex.
func ExampleMutex_Acquire_try() {
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

	backup, err := mutex.New(client, "/locks/backup")
	if err != nil {
		log.Fatal(err)
	}
	held, err := backup.Acquire(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()

	_, err = backup.Acquire(ctx, 0)
	var timeout *lease.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println("not free, ahead:", timeout.Ahead)
	}
	// Output: not free, ahead: 1
}
