package oncecron_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"

	oncecron "github.com/zkrecipes/zkrecipes/contrib/cron"
)

// Two clients have the same schedule, as if they were two processes. Each tick is run
// by one of them.
func ExampleAddFunc() {
	server, err := zktest.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan time.Time)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := process(ctx, server.Addr(), ran); err != nil {
				log.Fatal(err)
			}
		})
	}
	first, second := <-ran, <-ran
	fmt.Println("at a whole second:", first.Equal(first.Truncate(time.Second)))
	fmt.Println("then at another:", !first.Equal(second))
	cancel()
	both.Wait()
	// Output:
	// at a whole second: true
	// then at another: true
}

// process runs the schedule until ctx ends, and sends the ticks that it runs.
func process(ctx context.Context, server string, ran chan<- time.Time) error {
	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer client.Close()
	job, err := once.New(client, "/jobs/report")
	if err != nil {
		return err
	}
	c := cron.New(cron.WithSeconds(), cron.WithLocation(time.UTC))
	_, err = oncecron.AddFunc(ctx, c, "* * * * * *", job, func(ctx context.Context, _ *lease.Lease, tick time.Time) error {
		select {
		case ran <- tick:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err != nil {
		return err
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done() // then no run uses the client any more
	return nil
}
