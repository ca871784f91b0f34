package mutex_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// lease.Do acquires the mutex, calls a function and releases the mutex. It returns nil
// only if the lease was valid until the function returned.
func Example_do() {
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

	reports, err := mutex.New(client, "/locks/reports")
	if err != nil {
		log.Fatal(err)
	}
	err = lease.Do(ctx, reports, 5*time.Second, writeReport)
	fmt.Println("error:", err)
	// Output:
	// writing the report, valid: true
	// error: <nil>
}

// writeReport gets the lease's context, which ends when the lease is lost.
func writeReport(ctx context.Context, held *lease.Lease) error {
	fmt.Println("writing the report, valid:", held.Err() == nil)
	return ctx.Err()
}
