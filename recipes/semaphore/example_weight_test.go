package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Weight acquires several permits at once. Acquired one by one, two clients could each
// hold a part and wait for the rest for ever.
func ExampleSemaphore_Weight() {
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

	cores, err := semaphore.New(client, "/limits/cores", 4)
	if err != nil {
		log.Fatal(err)
	}
	err = lease.Do(ctx, cores.Weight(3), 5*time.Second, func(ctx context.Context, job *lease.Lease) error {
		free, err := cores.Available(ctx)
		fmt.Println("free during the job:", free)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = cores.Weight(5).Acquire(ctx, semaphore.Forever)
	fmt.Println(errors.Is(err, semaphore.ErrTooMany), err)
	// Output:
	// free during the job: 1
	// true acquire /limits/cores: more permits than there are: 5 asked for, 4 in all
}
