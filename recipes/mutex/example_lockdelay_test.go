package mutex_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A process ends without Release. What it has sent to a store that knows no tokens has
// a second to arrive before another process gets the mutex.
func ExampleWithLockDelay() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()
	connect := func() (*framework.Client, *mutex.Mutex) {
		client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
		if err != nil {
			log.Fatal(err)
		}
		orders, err := mutex.New(client, "/locks/orders", mutex.WithLockDelay(time.Second))
		if err != nil {
			log.Fatal(err)
		}
		return client, orders
	}

	first, orders := connect()
	if _, err := orders.Acquire(ctx, 5*time.Second); err != nil {
		log.Fatal(err)
	}
	first.Close() // the process ends, and its work has not

	second, orders := connect()
	defer second.Close()
	began := time.Now()
	_, err = orders.Acquire(ctx, 0)
	fmt.Println("closed:", errors.Is(err, lease.ErrLockDelay))
	held, err := orders.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("acquired a second later:", time.Since(began) >= time.Second)
	if err := held.Release(); err != nil { // the work under it has ended
		log.Fatal(err)
	}
	held, err = orders.Acquire(ctx, 0)
	fmt.Println("acquired at once:", held != nil, err)
	// Output:
	// closed: true
	// acquired a second later: true
	// acquired at once: true <nil>
}
