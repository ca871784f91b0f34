package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// Do acquires a lease, runs fn under it, and releases it, also if fn panics. fn gets
// the lease's context, which ends when the lease is lost.
//
// It returns the error of Acquire or of fn. If the lease was not valid until fn
// returned, that is joined with the ErrLost, unless fn returned it: held.Err() or the
// cause of ctx. So nil means that fn ran, succeeded, and was alone by the clock of this
// machine.
func Do(ctx context.Context, a Acquirer, timeout time.Duration, fn func(ctx context.Context, held *Lease) error) (err error) {
	if a == nil || fn == nil {
		return fmt.Errorf("lease.Do: %w: the Acquirer or fn is nil", framework.ErrInvalidArgument)
	}
	held, err := a.Acquire(ctx, timeout)
	if err != nil {
		return err
	}
	defer func() {
		released := held.Release()
		switch {
		case errors.Is(released, ErrReleased): // by fn, which got the error of a loss
		case released != nil && !errors.Is(err, released):
			err = errors.Join(err, released)
		}
	}()
	return fn(held.Context(), held)
}
