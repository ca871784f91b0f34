package framework_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A transaction is carried out as a whole or not at all. Here it writes only while
// another node exists; Lease.Check of a recipe is such an operation too, and makes a
// transaction fail when the lease is lost.
func ExampleClient_Multi() {
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

	if _, err := client.Create(ctx, "/open", nil, framework.Persistent); err != nil {
		log.Fatal(err)
	}
	order := func(path string) error {
		_, err := client.Multi(ctx,
			framework.CheckOp("/open", framework.AnyVersion),
			framework.CreateOp(path, []byte("one cake"), framework.Persistent),
		)
		return err
	}
	fmt.Println(order("/order-1"))

	if err := client.Delete(ctx, "/open", framework.AnyVersion); err != nil {
		log.Fatal(err)
	}
	err = order("/order-2")
	var failed *framework.MultiError
	if errors.As(err, &failed) {
		fmt.Println("operation", failed.Index, "failed, no node:", errors.Is(err, framework.ErrNoNode))
	}
	exists, _, err := client.Exists(ctx, "/order-2")
	fmt.Println(exists, err)
	// Output:
	// <nil>
	// operation 0 failed, no node: true
	// false <nil>
}
