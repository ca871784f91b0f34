package once_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// connected runs an example with a client of a server of its own. In your program: the
// servers of an ensemble.
func connected(example func(ctx context.Context, client *framework.Client)) {
	server, err := zktest.Start()
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
	example(ctx, client)
}

// However many processes call Do, each invoice is sent by one of them.
func Example() {
	connected(func(ctx context.Context, client *framework.Client) {
		invoices, err := once.New(client, "/jobs/invoices")
		if err != nil {
			log.Fatal(err)
		}
		for _, number := range []string{"2026/4711", "2026/4712", "2026/4711"} {
			err := invoices.Do(ctx, number, func(ctx context.Context, held *lease.Lease) error {
				fmt.Println("sending invoice", number)
				return nil
			})
			if err != nil {
				log.Fatal(err)
			}
		}
	})
	// Output:
	// sending invoice 2026/4711
	// sending invoice 2026/4712
}

// The report of each night, however many processes have it scheduled.
func ExampleJob_Tick() {
	connected(func(ctx context.Context, client *framework.Client) {
		report, err := once.New(client, "/jobs/report", once.WithRetention(7*24*time.Hour))
		if err != nil {
			log.Fatal(err)
		}
		night := time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC)
		for range 3 {
			err := report.Tick(night).Do(ctx, func(ctx context.Context, held *lease.Lease) error {
				fmt.Println("the report of", night)
				return nil
			})
			if err != nil {
				log.Fatal(err)
			}
		}
		record, err := report.Tick(night).Recorded(ctx)
		fmt.Println(record.Key, record.Token > 0, err)
	})
	// Output:
	// the report of 2026-11-26 03:00:00 +0000 UTC
	// 2026-11-26T03:00:00Z true <nil>
}

// A change in ZooKeeper that happens in the transaction of the record happens once,
// however often the run is begun.
func ExampleRun_Record() {
	connected(func(ctx context.Context, client *framework.Client) {
		rotation, err := once.New(client, "/jobs/rotation")
		if err != nil {
			log.Fatal(err)
		}
		if _, err := client.Create(ctx, "/secret", []byte("old"), framework.Persistent); err != nil {
			log.Fatal(err)
		}
		week := rotation.Key("2026-W48")
		err = week.Do(ctx, func(ctx context.Context, held *lease.Lease) error {
			return week.Record(ctx, held, framework.SetOp("/secret", []byte("new"), framework.AnyVersion))
		})
		if err != nil {
			log.Fatal(err)
		}
		data, stat, err := client.Get(ctx, "/secret")
		fmt.Println(string(data), stat.Version, err)
	})
	// Output: new 1 <nil>
}
