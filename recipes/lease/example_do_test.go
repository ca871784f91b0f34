package lease_test

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

// The error of Do is nil only if the work succeeded and the lease was valid until then.
func ExampleDo() {
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

	stock, err := mutex.New(client, "/locks/stock")
	if err != nil {
		log.Fatal(err)
	}

	left := 7
	err = lease.Do(ctx, stock, 5*time.Second, func(ctx context.Context, _ *lease.Lease) error {
		left--
		return ctx.Err()
	})
	fmt.Println(left, err)
	// Output: 6 <nil>
}
