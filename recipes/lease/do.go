package lease

import (
	"context"
	"errors"
	"time"
)

// Do acquires a place, runs fn under the lease, and releases it, also if fn panics. fn
// gets the lease's context, which ends when the lease is lost.
//
// It returns the error of Acquire, or that of fn joined with ErrLost if the lease did
// not last until fn returned. A nil error thus means that fn ran, succeeded, and was
// alone by the clock of this machine.
func Do(ctx context.Context, a Acquirer, timeout time.Duration, fn func(ctx context.Context, held *Lease) error) (err error) {
	held, err := a.Acquire(ctx, timeout)
	if err != nil {
		return err
	}
	defer func() {
		released := held.Release()
		if errors.Is(released, ErrReleased) {
			released = nil // fn released it; whether it was intact, fn was told
		}
		err = errors.Join(err, released)
	}()
	return fn(held.Context(), held)
}
