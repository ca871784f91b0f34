package framework_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A write that failed had no effect. One whose outcome is unknown was sent and never
// answered: it may have been carried out, so look before you repeat it. Under a lease,
// release and acquire again before you look: the request may still be under way, and
// only a newer lease keeps it out (docs/fencing.md, "The rule").
func ExampleOutcomeOf() {
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

	create := func(path string) {
		_, err := client.Create(ctx, path, nil, framework.Persistent)
		fmt.Printf("create %s: %v\n", path, framework.OutcomeOf(err))
		if framework.OutcomeOf(err) != framework.Unknown {
			return
		}
		if err := client.Sync(ctx, path); err != nil { // the server may not know the write yet
			log.Fatal(err)
		}
		exists, _, err := client.Exists(ctx, path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("it exists:", exists)
	}
	create("/a")
	create("/a")
	server.On(zktest.OpCreate, "/b").After().Cut() // the connection breaks before the answer
	create("/b")
	// Output:
	// create /a: done
	// create /a: failed
	// create /b: unknown
	// it exists: true
}
