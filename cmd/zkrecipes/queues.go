package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// listLimit bounds a listing of the queues that is only for a message.
const listLimit = time.Second

// A listedQueue is the queue of one lock.
type listedQueue struct {
	recipe
	all []lease.Contender
}

// listQueues lists the queues within the given time, in the order in which their locks
// are acquired. With an error it returns those that were listed before.
func (j *job) listQueues(ctx context.Context, limit time.Duration, of []recipe) (queues []listedQueue, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, unanswered("no server answered within %v", limit))
	defer cancel()
	for _, c := range of {
		all, err := c.contenders(ctx)
		if err != nil {
			return queues, err
		}
		queues = append(queues, listedQueue{c, all})
	}
	return queues, nil
}

// describeAhead describes a queue that is not empty.
func describeAhead(queue []lease.Contender) string {
	return fmt.Sprintf("%d ahead, held by %s", len(queue), describeHolder(queue[0]))
}

// describeHolder describes the holder.
func describeHolder(c lease.Contender) string {
	holder := c.Holder.String()
	switch {
	case holder != "":
	case c.Session == 0: // its node may not be read
		holder = "node " + c.Node
	default: // a client that says nothing about itself
		holder = fmt.Sprintf("session %s, node %s", hexSession(c.Session), c.Node)
	}
	return holder
}

// explain adds the holder to the error of an acquire that timed out, or says that no
// server answers any more, so that it is unknown whether there is a holder.
func (j *job) explain(ctx context.Context, w waitLimit, err error) error {
	timeout := (*lease.TimeoutError)(nil)
	switch {
	case !errors.As(err, &timeout):
		return j.hint(err)
	case errors.Is(timeout, framework.ErrNotConnected):
		return &unreachableError{timeout: timeout, err: timeout.Err}
	case w.try && (timeout.Ahead > 0 || errors.Is(timeout, lease.ErrLockDelay)): // a server has just said so
	default:
		if silent := j.probe(ctx); noAnswer(silent) {
			return &unreachableError{timeout: timeout, err: silent}
		}
	}
	if errors.Is(timeout, lease.ErrLockDelay) {
		if closed := j.explainClosed(ctx, timeout); closed != nil || timeout.Ahead <= 0 {
			return cmp.Or(closed, err)
		}
	}
	if timeout.Holder != (lease.Holder{}) && !j.recipe.isAnyStripe() {
		return err
	}
	return j.nameHolder(ctx, timeout, err)
}

// nameHolder adds the present holder, which the error does not name after --try, or
// when no time was left to ask.
func (j *job) nameHolder(ctx context.Context, timeout *lease.TimeoutError, err error) error {
	found, lookErr := j.lookAgain(ctx, timeout)
	switch {
	case lookErr == nil:
	case timeout.Ahead < 0 && !noAnswer(lookErr):
		return lookErr
	default:
		return err
	}
	queue := found.all
	switch {
	case j.recipe.isAnyStripe() && len(queue) > 0:
		return j.recipe.nameHolders(queue, timeout, err)
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
		named.Path, named.Ahead = j.client.FullPath(found.path), len(queue)
	}
	return &named
}

// lookAgain lists the queue in which an acquire was when its time was over, without the
// own node, which may not be deleted yet. If no time was left to list that queue, each
// of several locks may be the one that is not free.
func (j *job) lookAgain(ctx context.Context, timeout *lease.TimeoutError) (listedQueue, error) {
	of := j.recipe.queues()
	at := max(0, slices.IndexFunc(of, func(c recipe) bool { return j.client.FullPath(c.path) == timeout.Path }))
	if timeout.Ahead >= 0 {
		of, at = of[at:at+1], 0
	}
	queues, err := j.listQueues(ctx, listLimit, of)
	if err != nil {
		return listedQueue{}, err
	}
	own := j.client.Session().ID()
	for i := range queues {
		queues[i].all = slices.DeleteFunc(queues[i].all, func(c lease.Contender) bool { return c.Session == own })
		if len(of) > 1 && queues[i].mustWait(queues[i].all) {
			return queues[i], nil
		}
	}
	return queues[at], nil
}
