package semaphore_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// All workers of all processes together run at most two downloads at the same time.
func Example() {
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

	downloads, err := semaphore.New(client, "/limits/downloads", 2)
	if err != nil {
		log.Fatal(err)
	}
	var running, done atomic.Int32
	var workers sync.WaitGroup
	for range 5 {
		workers.Go(func() {
			err := lease.Do(ctx, downloads, semaphore.Forever, func(context.Context, *lease.Lease) error {
				if n := running.Add(1); n > 2 {
					fmt.Println("too many:", n)
				}
				defer running.Add(-1)
				time.Sleep(10 * time.Millisecond) // download
				return nil
			})
			if err == nil {
				done.Add(1)
			}
		})
	}
	workers.Wait()
	fmt.Println("downloads:", done.Load())
	// Output: downloads: 5
}
