package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

func ExampleDo() {
	errBusy := errors.New("server busy")
	retryIfBusy := func(err error) retry.Verdict {
		if errors.Is(err, errBusy) {
			return retry.Again
		}
		return retry.Fatal
	}

	attempts := 0
	err := retry.Do(context.Background(), retry.Constant(time.Millisecond), retryIfBusy,
		func(context.Context) error {
			attempts++
			if attempts < 3 {
				return errBusy
			}
			return nil
		})
	fmt.Println(attempts, err)
	// Output: 3 <nil>
}

// The outcome of a write whose answer was dropped is unknown: Do returns it and does
// not send the write again.
func ExampleDo_unknownOutcome() {
	errNoAnswer := errors.New("connection broke after the request was sent")
	isUnknown := func(error) retry.Verdict { return retry.Unknown }

	transfers := 0
	err := retry.Do(context.Background(), retry.Policy{}, isUnknown,
		func(context.Context) error {
			transfers++
			return errNoAnswer
		})
	fmt.Println(transfers, err)
	// Output: 1 connection broke after the request was sent
}

// A loop of your own, for example one that keeps a connection up.
func ExamplePolicy_Start() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dials := 0
	dial := func() error {
		dials++
		if dials < 3 {
			return errors.New("connection refused")
		}
		return nil
	}

	schedule := retry.Exponential(time.Millisecond, 10*time.Millisecond).Start()
	for dial() != nil {
		delay, more := schedule.Next()
		if !more || retry.Sleep(ctx, delay) != nil {
			return
		}
	}
	// Connected: the next failure starts another schedule, with a short delay again.
	fmt.Println("connected at dial", dials)
	// Output: connected at dial 3
}
