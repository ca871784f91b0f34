package framework_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A client lives through many sessions. States tells of each transition, and no
// transition is skipped.
func Example() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()
	client, err := framework.Connect(ctx, framework.Config{
		Servers: []string{server.Addr()}, // or "zk1:2181,zk2:2181,zk3:2181/chroot"
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	first := client.Session().ID()
	states := client.States(ctx) // from now on
	server.ExpireSession(first)
	for change := range states {
		switch change.State {
		case framework.Lost: // its ephemeral nodes are gone, or will be
			fmt.Println("lost the first session:", change.Session == first)
		case framework.Connected:
			if change.Session != first {
				fmt.Println("connected with another")
				go client.Close()
			}
		case framework.Closed:
			fmt.Println("closed")
		}
	}
	// Output:
	// lost the first session: true
	// connected with another
	// closed
}
