package zktest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A connection breaks after a request has taken effect, so that its answer is dropped.
func ExampleRule() {
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

	// The client cannot know whether the node was created.
	dropped := server.On(zktest.OpCreate, "/orders").After().Cut()
	_, err = client.Create(ctx, "/orders", nil, framework.Persistent)
	<-dropped.Fired()
	_, exists := server.Node("/orders")
	fmt.Printf("outcome %s, and the node exists: %t\n", framework.OutcomeOf(err), exists)

	// CreateProtected finds the node that it has created, and creates no second one.
	server.On(zktest.OpCreate, "/orders/").After().Cut()
	created, err := client.CreateProtected(ctx, "/orders/order-", nil, framework.EphemeralSequential)
	if err != nil {
		log.Fatal(err)
	}
	node, exists := server.Node(created.Path)
	fmt.Printf("number %s exists: %t, nodes: %d\n", node.Path[len(node.Path)-10:], exists, len(server.Children("/orders")))
	// Output:
	// outcome unknown, and the node exists: true
	// number 0000000000 exists: true, nodes: 1
}
