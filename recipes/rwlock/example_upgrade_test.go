package rwlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A reader has to release the read lock before it can write: two readers that did not
// would wait for each other for ever.
func ExampleLock_Write_upgrade() {
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

	prices, err := rwlock.New(client, "/locks/prices")
	if err != nil {
		log.Fatal(err)
	}
	reading, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	_, err = prices.Write().Acquire(reading.Context(), rwlock.Forever)
	fmt.Println("refused:", errors.Is(err, rwlock.ErrUpgrade))
	if err := reading.Release(); err != nil {
		log.Fatal(err)
	}

	writing, err := prices.Write().Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer writing.Release()
	fmt.Println("writing:", writing.Err() == nil) // what was read before may have changed
	// Output:
	// refused: true
	// writing: true
}
