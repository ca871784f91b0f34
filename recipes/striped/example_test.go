package striped_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
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

// A million accounts need 64 locks.
func Example() {
	connected(func(ctx context.Context, client *framework.Client) {
		accounts, err := striped.New(client, "/locks/accounts", 64)
		if err != nil {
			log.Fatal(err)
		}
		err = lease.Do(ctx, accounts.For("DE89 3704 0044"), 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
			fmt.Println("booked under", accounts.Path(accounts.Index("DE89 3704 0044")))
			return nil
		})
		fmt.Println(err)
	})
	// Output:
	// booked under /locks/accounts/stripe-0052
	// <nil>
}

// A transfer locks both accounts, in an order in which two transfers in opposite
// directions do not wait for each other. It does not matter if they have one stripe.
func ExampleLocks_ForAll() {
	connected(func(ctx context.Context, client *framework.Client) {
		accounts, err := striped.New(client, "/locks/accounts", 64)
		if err != nil {
			log.Fatal(err)
		}
		transfer, err := multilock.New(accounts.ForAll("from", "to"))
		if err != nil {
			log.Fatal(err)
		}
		err = lease.Do(ctx, transfer, 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
			fmt.Println("locks:", len(held.Tokens()))
			return nil
		})
		fmt.Println(err)
	})
	// Output:
	// locks: 2
	// <nil>
}

// The stock of an article that everybody wants is sold from four shares at once.
func ExampleLocks_AcquireAny() {
	connected(func(ctx context.Context, client *framework.Client) {
		stock, err := striped.New(client, "/locks/articles/4711", 4)
		if err != nil {
			log.Fatal(err)
		}
		left := [4]int{25, 25, 25, 25}
		held, share, err := stock.AcquireAny(ctx, time.Second)
		if err != nil {
			log.Fatal(err)
		}
		defer held.Release()
		left[share]-- // nobody else sells from this share
		fmt.Println(left[0] + left[1] + left[2] + left[3])
	})
	// Output: 99
}

// An ensemble that has grown can take more stripes. The programs that use them are
// then started with the new number.
func ExampleLocks_Resize() {
	connected(func(ctx context.Context, client *framework.Client) {
		accounts, err := striped.New(client, "/locks/accounts", 16)
		if err != nil {
			log.Fatal(err)
		}
		more, err := accounts.Resize(ctx, 64, time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		_, err = accounts.For("key").Acquire(ctx, time.Second)
		fmt.Println(errors.Is(err, striped.ErrSizeMismatch))
		held, err := more.For("key").Acquire(ctx, time.Second)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(held.Release())
	})
	// Output:
	// true
	// <nil>
}
