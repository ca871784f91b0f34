package mutex_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Operators list who holds the mutex and who waits for it.
func ExampleMutex_Contenders() {
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

	reports, err := mutex.New(client, "/locks/reports", mutex.WithHolder("monthly report"))
	if err != nil {
		log.Fatal(err)
	}
	held, err := reports.Acquire(ctx, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer held.Release()

	contenders, err := reports.Contenders(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range contenders {
		fmt.Println(c.Holder.Who, "holds:", c.Holding)
	}
	// Output: monthly report holds: true
}
