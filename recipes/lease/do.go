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
// It returns the error of Acquire, or that of fn joined with ErrLost if the lease was
// not valid until fn returned. So nil means that fn ran, succeeded, and was alone by
// the clock of this machine.
func Do(ctx context.Context, a Acquirer, timeout time.Duration, fn func(ctx context.Context, held *Lease) error) (err error) {
	if a == nil || fn == nil {
		return fmt.Errorf("lease.Do: %w: no Acquirer or no function", framework.ErrInvalidArgument)
	}
	held, err := a.Acquire(ctx, timeout)
	if err != nil {
		return err
	}
	defer func() {
		released := held.Release()
		if errors.Is(released, ErrReleased) {
			released = nil // by fn, which got the error of a loss
		}
		err = errors.Join(err, released)
	}()
	return fn(held.Context(), held)
}
