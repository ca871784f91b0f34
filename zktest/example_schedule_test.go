package zktest_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// addOrder is the code under test. It must create one node, whatever breaks.
func addOrder(ctx context.Context, client *framework.Client) error {
	_, err := client.CreateProtected(ctx, "/orders/order-", nil, framework.EphemeralSequential)
	return err
}

// orders adds three orders under a schedule of faults, and returns what went wrong.
func orders(t *testing.T, faults zktest.Schedule) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // of virtual time
		defer cancel()
		client, err := framework.Connect(ctx, framework.Config{
			Servers: []string{server.Addr()},
			Dial:    server.Dial("client"),
			Logger:  slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := client.Create(ctx, "/orders", nil, framework.Persistent); err != nil {
			t.Fatal(err)
		}

		server.SetFaults(faults.Faults())
		for range 3 {
			if err := addOrder(ctx, client); err != nil {
				wrong = err.Error()
				return
			}
		}
		if n := len(server.Children("/orders")); n != 3 {
			wrong = fmt.Sprintf("%d orders", n)
		}
	})
	return wrong
}

// In your package this is a test: name it TestOrdersUnderFaults.
func ordersTest(t *testing.T) {
	for seed := range uint64(50) {
		faults := zktest.RandomSchedule(seed, 3, 20, zktest.CutConnection, zktest.DropReply, zktest.Delay(time.Second))
		if orders(t, faults) != "" {
			few := faults.Shrink(func(s zktest.Schedule) bool { return orders(t, s) != "" })
			t.Fatalf("seed %d: %s, under %#v", seed, orders(t, few), few)
		}
	}
}

// Random faults. Those that fail a test are reduced to the few that it takes.
func ExampleSchedule() {
	ordersTest(new(testing.T)) // not in your package: there go test runs TestOrdersUnderFaults
}
