package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// listLimit bounds a listing of the queue that is only for a message.
const listLimit = time.Second

// listQueue lists the queue within the given time.
func (j *job) listQueue(ctx context.Context, limit time.Duration) ([]lease.Contender, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, unanswered("no server answered within %v", limit))
	defer cancel()
	return j.recipe.contenders(ctx)
}

// describeAhead describes a queue that is not empty.
func describeAhead(queue []lease.Contender) string {
	holder := queue[0].Holder.String()
	if holder == "" { // a client that says nothing about itself
		holder = fmt.Sprintf("session %s, node %s", hexSession(queue[0].Session), queue[0].Node)
	}
	return fmt.Sprintf("%d ahead, held by %s", len(queue), holder)
}

// explain adds the holder to the error of an acquire that timed out, or says that no
// server answers any more, so that it is unknown whether there is a holder.
func (j *job) explain(ctx context.Context, w waitLimit, err error) error {
	timeout := (*lease.TimeoutError)(nil)
	switch {
	case !errors.As(err, &timeout):
		return err
	case errors.Is(timeout, framework.ErrNotConnected):
		return &unreachableError{timeout: timeout, err: timeout.Err}
	case w.try && timeout.Ahead > 0: // a server has just said so
	default:
		if silent := j.probe(ctx); noAnswer(silent) {
			return &unreachableError{timeout: timeout, err: silent}
		}
	}
	if timeout.Holder != (lease.Holder{}) {
		return err
	}
	return j.nameHolder(ctx, timeout, err)
}

// nameHolder adds the present holder, which the error does not name after --try, or
// when no time was left to ask.
func (j *job) nameHolder(ctx context.Context, timeout *lease.TimeoutError, err error) error {
	queue, lookErr := j.listQueue(ctx, listLimit)
	switch {
	case lookErr == nil:
	case timeout.Ahead < 0 && !noAnswer(lookErr):
		return lookErr
	default:
		return err
	}
	own := j.client.Session().ID() // its node may not be deleted yet
	queue = slices.DeleteFunc(queue, func(c lease.Contender) bool { return c.Session == own })
	switch {
	case len(queue) == 0 && timeout.Ahead < 0:
		answered := *timeout
		answered.Ahead = 0
		return fmt.Errorf("%w (no time was left to list the queue; by now it is empty)", &answered)
	case len(queue) == 0:
		return fmt.Errorf("%w (it was released just now)", err)
	case timeout.Node != "" && queue[0].Node != timeout.Node:
		return fmt.Errorf("%w (by now: %s)", err, describeAhead(queue))
	}
	named := *timeout
	named.Node, named.Holder = queue[0].Node, queue[0].Holder
	if named.Ahead < 0 {
		named.Ahead = len(queue)
	}
	return &named
}
