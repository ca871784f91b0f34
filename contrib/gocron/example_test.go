package oncegocron_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"

	oncegocron "github.com/zkrecipes/zkrecipes/contrib/gocron"
)

// Three processes have the same job. Each of them tries to run each tick, and one does.
func Example() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	clock := clockwork.NewFakeClock() // in your program: none
	var processes sync.WaitGroup
	for range 3 {
		processes.Go(func() {
			if err := process(server.Addr(), clock); err != nil {
				log.Print(err)
			}
		})
	}
	processes.Wait()
	// Output:
	// report written, valid: true
}

// process is one process of a service that writes a report each night.
func process(server string, clock clockwork.Clock) error {
	client, err := framework.Connect(context.Background(), framework.Config{Servers: []string{server}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer client.Close()
	report, err := once.New(client, "/jobs/report")
	if err != nil {
		return err
	}
	scheduler, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithClock(clock))
	if err != nil {
		return err
	}
	defer func() { _ = scheduler.Shutdown() }()

	tried := make(chan error, 1)
	_, err = oncegocron.NewJob(scheduler, report, oncegocron.CronJob("0 3 * * *").WithClock(clock),
		func(_ context.Context, held *lease.Lease, _ time.Time) error {
			fmt.Println("report written, valid:", held.Err() == nil)
			return nil
		},
		// If the report of last night is missing, it is written now.
		gocron.WithStartAt(gocron.WithStartImmediately()),
		gocron.WithEventListeners(
			gocron.AfterJobRuns(func(uuid.UUID, string) { tried <- nil }),
			gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { tried <- err }),
		),
	)
	if err != nil {
		return err
	}
	scheduler.Start()
	return <-tried // in your program: until it is told to stop
}
