package semaphore_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// All processes together send at most two mails in a tenth of a second, however little
// time that takes.
func ExampleWithMinHold() {
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

	mails, err := semaphore.New(client, "/limits/mails", 2, semaphore.WithMinHold(100*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	began := time.Now()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			permit, err := mails.Acquire(ctx, semaphore.Forever)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("sent") // with permit.Context()
			if err := permit.ReleaseAsync(); err != nil {
				log.Fatal(err)
			}
		})
	}
	all.Wait()
	fmt.Println("the last one had to wait:", time.Since(began) >= 200*time.Millisecond)
	// Output:
	// sent
	// sent
	// sent
	// sent
	// sent
	// the last one had to wait: true
}
