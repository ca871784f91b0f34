package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/proof/exampletest"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// connect starts a ZooKeeper server in this process and connects to it. In a real
// program there are only the addresses of an ensemble.
var connect = exampletest.Connect

func Example() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	licences, err := semaphore.New(client, "/pools/licences", 2)
	if err != nil {
		panic(err)
	}
	first, err := licences.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer first.Release()
	second, err := licences.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer second.Release()

	_, err = licences.Acquire(ctx, 0)
	fmt.Println("a third:", errors.Is(err, lease.ErrTimeout))
	// Output: a third: true
}

// Who needs several permits takes them together: one after the other, two who do so
// could each hold a part and wait for the rest for ever.
func ExampleSemaphore_Weight() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	cores, err := semaphore.New(client, "/pools/cores", 4)
	if err != nil {
		panic(err)
	}
	job, err := cores.Weight(3).Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	free, err := cores.Available(ctx)
	fmt.Println("free:", free, err)
	_, err = cores.Weight(5).Acquire(ctx, semaphore.Forever)
	fmt.Println(err)
	fmt.Println("released:", job.Release() == nil)
	// Output:
	// free: 1 <nil>
	// acquire /pools/cores: more permits than there are: 5 asked for, 4 in all
	// released: true
}

// All processes agree on the size, because it is stored at the path. A tool that only
// changes it need not know it.
func ExampleSemaphore_Resize() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	workers, err := semaphore.New(client, "/pools/workers", 1)
	if err != nil {
		panic(err)
	}
	held, err := workers.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	waiting := make(chan *lease.Lease)
	go func() {
		next, _ := workers.Acquire(ctx, semaphore.Forever)
		waiting <- next
	}()

	tool, err := semaphore.New(client, "/pools/workers", 0) // whatever is stored
	if err != nil {
		panic(err)
	}
	fmt.Println("resized:", tool.Resize(ctx, 2) == nil)
	next := <-waiting
	fmt.Println("both hold:", held.Err() == nil && next.Err() == nil)
	_ = next.Release()

	stale, err := semaphore.New(client, "/pools/workers", 7)
	if err != nil {
		panic(err)
	}
	_, err = stale.Acquire(ctx, 0)
	fmt.Println(err)
	// Output:
	// resized: true
	// both hold: true
	// acquire /pools/workers: the number of permits differs from the one stored at the path: 7 given, 2 stored
}

func ExampleSemaphore_Contenders() {
	ctx := context.Background()
	client, stop := connect(ctx)
	defer stop()

	reports, err := semaphore.New(client, "/pools/reports", 2, semaphore.WithHolder("monthly report"))
	if err != nil {
		panic(err)
	}
	held, err := reports.Acquire(ctx, 5*time.Second)
	if err != nil {
		panic(err)
	}
	defer held.Release()

	list, err := reports.Contenders(ctx)
	if err != nil {
		panic(err)
	}
	for _, c := range list {
		fmt.Println(c.Holder.Who, c.Holding, c.Token == held.Token())
	}
	// Output: monthly report true true
}
