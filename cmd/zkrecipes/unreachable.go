package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An unreachableError ends a wait in which, at its end, no server answered. Somebody
// may have been ahead when one last did, but who gives up now does not know whether the
// place is taken: to call that "somebody else has it" would hide from a script that
// ZooKeeper is down.
type unreachableError struct {
	timeout *lease.TimeoutError
	err     error // how it was noticed
}

// Error says that nothing is known, and since when.
func (e *unreachableError) Error() string {
	s := fmt.Sprintf("no server answers, so whether %s is free is not known", e.timeout.Path)
	if e.timeout.Waited > 0 {
		s += fmt.Sprintf("; gave up after %v", e.timeout.Waited.Round(time.Millisecond))
	}
	if e.timeout.Ahead > 0 {
		s += fmt.Sprintf(" (%d ahead when one last did)", e.timeout.Ahead)
	}
	// What was asked in vain, and how often, says less than what happened at each
	// server.
	if servers := (*framework.ConnectError)(nil); errors.As(e.err, &servers) {
		return s + ": " + servers.Error()
	}
	return fmt.Sprintf("%s: %v", s, e.err)
}

// Unwrap returns what the wait knew at its end.
func (e *unreachableError) Unwrap() error { return e.timeout }

// noAnswer tells whether an error means that no server answers. A wait that timed out
// is one of these if it broke off without a server, or if none has ever said that
// somebody is ahead.
func noAnswer(err error) bool {
	var (
		unreachable *unreachableError
		timeout     *lease.TimeoutError
	)
	switch {
	case errors.As(err, &unreachable):
		return true
	case errors.As(err, &timeout):
		return errors.Is(timeout, framework.ErrNotConnected) || timeout.Ahead < 0
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
