package leasetest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
)

// export is what is tested. It must write nothing once its lease is lost.
func export(held *lease.Lease, rows <-chan string, write func(row string)) error {
	for {
		select {
		case <-held.Context().Done():
			return context.Cause(held.Context())
		case row := <-rows:
			if err := held.Err(); err != nil {
				return err
			}
			write(row)
		}
	}
}

// The unit test of code that has to stop when its lease is lost.
func ExampleAcquirer_Lose() {
	held, lock := leasetest.NewLease(context.Background())
	rows := make(chan string, 2)
	rows <- "first"
	rows <- "second"
	err := export(held, rows, func(row string) {
		fmt.Println("wrote", row)
		lock.Lose(framework.ErrSessionLost)
	})
	fmt.Println(errors.Is(err, lease.ErrLost), errors.Is(err, framework.ErrSessionLost))
	// Output:
	// wrote first
	// true true
}
