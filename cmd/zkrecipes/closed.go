package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// An endedHolder has ended without a release.
type endedHolder struct {
	inspect.Ended
	at string // the path of its queue
}

// A closedError ends a wait because a lock-delay keeps the lock closed.
type closedError struct {
	timeout *lease.TimeoutError
	delay   time.Duration
	ended   []endedHolder // at least one
}

// Error says for how long it is closed, and after whose end.
func (e *closedError) Error() string {
	s := fmt.Sprintf("%s: %v: ", quote.Path(e.timeout.Path), lease.ErrTimeout)
	if e.timeout.Waited > 0 {
		s += fmt.Sprintf("waited %v: ", e.timeout.Waited.Round(time.Millisecond))
	}
	if e.timeout.Ahead > 0 {
		s += fmt.Sprintf("%d ahead, and ", e.timeout.Ahead)
	} else {
		s += "no client is ahead, but "
	}
	return s + describeClosed(e.delay, e.ended)
}

// Unwrap returns the timeout of the recipe, which is a lease.ErrLockDelay.
func (e *closedError) Unwrap() error { return e.timeout }

// describeClosed says for how long it is closed, and after whose end.
func describeClosed(delay time.Duration, ended []endedHolder) string {
	more := ""
	if n := len(ended) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	text := fmt.Sprintf("it is closed for %v (--lock-delay), because %s%s ended without releasing it (node %s): who waits longer than that gets it",
		delay, describeEnded(ended[0].Ended), more, quote.Cell(ended[0].Node))
	if over, seen := overFrom(delay, ended[0].Ended); seen {
		text += ", and so does who comes after " + over.Format(time.RFC3339)
	}
	return text
}

// isClosed reports whether an acquire failed because of a lock-delay. Of any of some
// stripes, one that was closed is not the reason if clients hold all of them.
func isClosed(err error) bool {
	closed, timeout := (*closedError)(nil), (*lease.TimeoutError)(nil)
	if errors.As(err, &closed) {
		return true
	}
	return errors.Is(err, lease.ErrLockDelay) && errors.As(err, &timeout) && timeout.Ahead <= 0
}

// endedAt returns the holders of a queue that have ended without a release. Those
// after which the delay has certainly passed for a newcomer are left out.
func (j *job) endedAt(ctx context.Context, c recipe) (ended []endedHolder, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listLimit, unanswered("no server answered within %v", listLimit))
	defer cancel()
	at := c.queuePath()
	s, err := inspect.Heads(ctx, j.client, at, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range s.LockDelays {
		of := at
		switch {
		case c.isAnyStripe() != (d.Recipe == inspect.Stripe), d.Recipe == inspect.Run:
			continue
		case c.isAnyStripe():
			of += "/" + znode.StripeDir(d.Stripe)
		}
		for _, e := range d.Ended {
			if over, seen := overFrom(d.Delay, e); !seen || time.Now().Before(over) {
				ended = append(ended, endedHolder{e, of})
			}
		}
	}
	return ended, nil
}

// queuePath is the path of the queue, or that of all stripes if it may be any.
func (c recipe) queuePath() string {
	switch {
	case c.stripe != nil:
		return c.path + "/" + znode.StripeDir(*c.stripe)
	case c.run != nil:
		return c.path + "/" + c.run.node
	}
	return c.path
}

// keptOut reports whether a newcomer would wait for holders that have ended, as it
// would if they were in the queue.
func (q listedQueue) keptOut(ended []endedHolder) bool {
	all := q.all
	for _, e := range ended {
		all = append(all, lease.Contender{Kind: e.Kind, Node: e.Node, Path: e.at + "/" + e.Node})
	}
	return len(ended) > 0 && q.mustWait(all)
}

// explainClosed adds to the error of an acquire who has ended without a release. It
// returns nil if that is not to be found any more.
func (j *job) explainClosed(ctx context.Context, timeout *lease.TimeoutError) error {
	c := j.recipe
	for _, part := range c.parts {
		if j.client.FullPath(part.path) == timeout.Path {
			c = part
		}
	}
	ended, _ := j.endedAt(ctx, c) // what the error says already is enough
	if len(ended) == 0 {
		return nil
	}
	return &closedError{timeout, j.lockDelay.value, ended}
}

// hint adds to an error what the flags have to do with it.
func (j *job) hint(err error) error {
	switch {
	case errors.Is(err, lease.ErrLockDelayMismatch):
		return fmt.Errorf("%w: all who give a --lock-delay for %s have to give the same", err, j.paths.either())
	case errors.Is(err, semaphore.ErrOtherLayout):
		return fmt.Errorf("%w: --permits with --lock-delay needs a single queue, which clients without one do not use: all have to give the same --lock-delay", err)
	}
	return err
}
