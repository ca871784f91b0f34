package rwlock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Operators list who holds the lock and who waits for it.
func ExampleLock_Contenders() {
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

	prices, err := rwlock.New(client, "/locks/prices", rwlock.WithHolder("shop"))
	if err != nil {
		log.Fatal(err)
	}
	reading, err := prices.Read().Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer reading.Release()

	contenders, err := prices.Contenders(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range contenders {
		fmt.Println(c.Kind, c.Holder.Who, "holds:", c.Holding)
	}
	// Output: reader shop holds: true
}
