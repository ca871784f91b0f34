package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// connectPatience is how long connecting may take when --timeout does not say.
	defaultConnectLimit = 15 * time.Second
	// tryPatience is how long "--try" asks for an answer. Together with starting and
	// ending that is less than two seconds if no server can be reached.
	tryLimit = 1800 * time.Millisecond
)

// errUnanswered means that time was up before a server had answered.
var errUnanswered = errors.New("no server answered in time")

// unanswered is the cause of a context that ends when time is up.
func unanswered(format string, args ...any) error {
	return &unansweredError{fmt.Sprintf(format, args...)}
}

// An unansweredError is an errUnanswered with other words.
type unansweredError struct{ text string }

// Error says for how long there was no answer.
func (e *unansweredError) Error() string { return e.text }

// Is reports whether target is errUnanswered.
func (e *unansweredError) Is(target error) bool { return target == errUnanswered }

// A wait is how long one wait for a place may take, connecting included.
type waitLimit struct {
	start    time.Time
	duration time.Duration // 0: none
	try      bool          // do not wait for others, only for answers
}

// begin starts the clock of a wait.
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

// toConnect is how long connecting may take.
func (w waitLimit) forConnect() time.Duration {
	if w.duration == 0 {
		return defaultConnectLimit
	}
	return w.duration
}

// left is how much of the time is left; never nothing, which would mean another thing
// to a recipe.
func (w waitLimit) left() time.Duration {
	if w.duration == 0 {
		return forever
	}
	return max(w.duration-time.Since(w.start), time.Millisecond)
}

// withLastLook returns the wait with time for one more look, if it has less left.
func (w waitLimit) withFinalCheck() waitLimit {
	if w.left() < finalCheckTime {
		w.duration = time.Since(w.start) + finalCheckTime
	}
	return w
}

// bound returns a context that ends when time is up, for questions that have to be
// answered.
func (w waitLimit) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.duration == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, w.left(), unanswered("no server answered within %v", w.duration))
}
