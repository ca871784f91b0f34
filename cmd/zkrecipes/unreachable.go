package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An unreachableError ends a wait at whose end no server answered. A client may have
// been ahead when a server last answered, but whether it still is, is unknown: to
// report "held by another" would hide from a script that ZooKeeper is down.
type unreachableError struct {
	timeout *lease.TimeoutError
	err     error // how it was noticed
}

// Error says what is not known, and for how long the job waited.
func (e *unreachableError) Error() string {
	s := fmt.Sprintf("no server answers, so it is not known whether %s is free", e.timeout.Path)
	if e.timeout.Waited > 0 {
		s += fmt.Sprintf("; gave up after %v", e.timeout.Waited.Round(time.Millisecond))
	}
	if e.timeout.Ahead > 0 {
		s += fmt.Sprintf(" (%d ahead when one last did)", e.timeout.Ahead)
	}
	// What happened at each server says more than which request failed, and how often.
	if servers := (*framework.ConnectError)(nil); errors.As(e.err, &servers) {
		return s + ": " + servers.Error()
	}
	return fmt.Sprintf("%s: %v", s, e.err)
}

// Unwrap returns the timeout of the recipe.
func (e *unreachableError) Unwrap() error { return e.timeout }

// noAnswer reports whether an error means that no server answers. A wait that timed out
// does if it was not connected at its end, or if no server ever named a client ahead,
// or a lock-delay.
func noAnswer(err error) bool {
	var (
		unreachable *unreachableError
		timeout     *lease.TimeoutError
	)
	switch {
	case errors.As(err, &unreachable):
		return true
	case errors.As(err, &timeout):
		return errors.Is(timeout, framework.ErrNotConnected) || timeout.Ahead < 0 && !errors.Is(timeout, lease.ErrLockDelay)
	case errors.Is(err, lease.ErrLost):
		return false
	}
	for _, sign := range []error{errUnanswered, framework.ErrNotConnected, framework.ErrUnknownOutcome, framework.ErrSessionLost, context.DeadlineExceeded} {
		if errors.Is(err, sign) {
			return true
		}
	}
	return false
}
