package lockorder_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A test of a program that needs two locks, with a server of its own. At its end no
// inconsistent order may have been seen, whatever the program has done.
func ExampleChecker_Cycles() {
	testTransfers := func(t require.TestingT) { // in your test: func TestTransfers(t *testing.T)
		server, err := zktest.Start()
		require.NoError(t, err)
		defer server.Close()
		order := lockorder.New(nil) // which also logs
		client, err := framework.Connect(context.Background(), framework.Config{
			Servers: []string{server.Addr()}, Observers: []framework.Observer{order.Observer()},
		})
		require.NoError(t, err)
		defer client.Close()

		require.NoError(t, transfer(client, "alice", "bob"))
		require.NoError(t, transfer(client, "bob", "alice"))
		require.Empty(t, order.Cycles())
	}
	testTransfers(printer{})
	fmt.Println("passed")
	// Output: passed
}

// transfer acquires both locks at once, so its order does not matter.
func transfer(client *framework.Client, from, to string) error {
	var accounts []lease.Acquirer
	for _, account := range []string{from, to} {
		m, err := mutex.New(client, "/accounts/"+account)
		if err != nil {
			return err
		}
		accounts = append(accounts, m)
	}
	both, err := multilock.New(accounts)
	if err != nil {
		return err
	}
	return lease.Do(context.Background(), both, 5*time.Second, func(context.Context, *lease.Lease) error { return nil })
}

// A printer stands for a *testing.T.
type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format, args...) }

func (printer) FailNow() { panic("failed") }
