package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// defaultConnectLimit is how long connecting may take without --timeout.
const defaultConnectLimit = 15 * time.Second

// tryLimit is how long "--try" waits for an answer. With start and end of the process
// that is less than two seconds if no server can be reached. Only tests change it.
var tryLimit = 1800 * time.Millisecond

// errUnanswered means that the time was over before a server had answered.
var errUnanswered = errors.New("no server answered in time")

// unanswered is the cause of a context that ends when the time is over.
func unanswered(format string, args ...any) error {
	return &unansweredError{fmt.Sprintf(format, args...)}
}

// An unansweredError is an errUnanswered with a text of its own.
type unansweredError struct{ text string }

// Error returns that text.
func (e *unansweredError) Error() string { return e.text }

// Is reports whether target is errUnanswered.
func (e *unansweredError) Is(target error) bool { return target == errUnanswered }

// A waitLimit is how long one wait for a lock may take, connecting included.
type waitLimit struct {
	start    time.Time
	duration time.Duration // 0: none
	try      bool          // wait for answers only, not for other clients
}

// begin starts the clock of the wait for a lock.
func (f *runFlags) begin() waitLimit {
	w := waitLimit{start: time.Now(), duration: f.timeout.value, try: f.try}
	if f.try {
		w.duration = tryLimit
	}
	return w
}

// begin starts the clock of the wait for a term.
func (f *electFlags) begin() waitLimit {
	return waitLimit{start: time.Now(), duration: f.timeout.value}
}

// forConnect is how long connecting may take.
func (w waitLimit) forConnect() time.Duration {
	if w.duration == 0 {
		return defaultConnectLimit
	}
	return w.duration
}

// left is how much time is left. It is never 0, because 0 makes a recipe not wait.
func (w waitLimit) left() time.Duration {
	if w.duration == 0 {
		return forever
	}
	return max(w.duration-time.Since(w.start), time.Millisecond)
}

// isOver reports whether no time is left.
func (w waitLimit) isOver() bool { return w.duration > 0 && time.Since(w.start) >= w.duration }

// withFinalCheck returns the limit with at least finalCheckTime left.
func (w waitLimit) withFinalCheck() waitLimit {
	if w.left() < finalCheckTime {
		w.duration = time.Since(w.start) + finalCheckTime
	}
	return w
}

// bound returns a context that ends when the time is over.
func (w waitLimit) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.duration == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, w.left(), unanswered("no server answered within %v", w.duration))
}
