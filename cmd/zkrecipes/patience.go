package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// connectPatience is how long connecting may take when --timeout does not say.
	connectPatience = 15 * time.Second
	// tryPatience is how long "--try" asks for an answer. Together with starting and
	// ending that is less than two seconds if no server can be reached.
	tryPatience = 1800 * time.Millisecond
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
type wait struct {
	start  time.Time
	limit  time.Duration // 0: none
	atOnce bool          // do not wait for others, only for answers
}

// begin starts the clock of a wait.
func (f *runFlags) begin() wait {
	w := wait{start: time.Now(), limit: f.timeout.value, atOnce: f.try}
	if f.try {
		w.limit = tryPatience
	}
	return w
}

// begin starts the clock of the wait for a term.
func (f *electFlags) begin() wait { return wait{start: time.Now(), limit: f.timeout.value} }

// toConnect is how long connecting may take.
func (w wait) toConnect() time.Duration {
	if w.limit == 0 {
		return connectPatience
	}
	return w.limit
}

// left is how much of the time is left; never nothing, which would mean another thing
// to a recipe.
func (w wait) left() time.Duration {
	if w.limit == 0 {
		return forever
	}
	return max(w.limit-time.Since(w.start), time.Millisecond)
}

// withLastLook returns the wait with time for one more look, if it has less left.
func (w wait) withLastLook() wait {
	if w.left() < lastLook {
		w.limit = time.Since(w.start) + lastLook
	}
	return w
}

// bound returns a context that ends when time is up, for questions that have to be
// answered.
func (w wait) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, w.left(), unanswered("no server answered within %v", w.limit))
}
