package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Check makes a write to ZooKeeper fail unless the lease is valid when the write takes
// effect, even if this process does not know yet that it has lost the lease.
func ExampleLease_Check() {
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
	if _, err := client.Create(ctx, "/stock", []byte("7"), framework.Persistent); err != nil {
		log.Fatal(err)
	}
	held, err := stock.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}

	_, err = client.Multi(ctx, held.Check(), framework.SetOp("/stock", []byte("6"), framework.AnyVersion))
	fmt.Println("while it is held:", err)

	if err := held.Release(); err != nil {
		log.Fatal(err)
	}
	_, err = client.Multi(ctx, held.Check(), framework.SetOp("/stock", []byte("5"), framework.AnyVersion))
	fmt.Println("afterwards, refused:", errors.Is(err, framework.ErrNoNode))
	data, _, err := client.Get(ctx, "/stock")
	fmt.Println(string(data), err)
	// Output:
	// while it is held: <nil>
	// afterwards, refused: true
	// 6 <nil>
}
