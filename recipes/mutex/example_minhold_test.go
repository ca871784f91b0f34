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

// Every process tries to send the report at the same time of day, by its own clock. The
// first one keeps the mutex taken for longer than their clocks differ, although sending
// takes no time.
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
	defer client.Close() // which frees the mutex sooner

	report, err := mutex.New(client, "/locks/report", mutex.WithMinHold(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	for _, process := range []string{"a", "b"} {
		held, err := report.Acquire(ctx, 0)
		if errors.Is(err, lease.ErrTimeout) {
			fmt.Println(process, "leaves it to another process")
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(process, "sends the report")
		if err := held.ReleaseAsync(); err != nil { // Release would wait for the rest of the minute
			log.Fatal(err)
		}
	}
	// Output:
	// a sends the report
	// b leaves it to another process
}
