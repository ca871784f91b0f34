package leasetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A contender holds, or waits to: below the root of an Acquirer or, as a fork, below
// another contender. It holds if it is one of the first in the queue there.
type contender struct {
	above *contender // nil for the root
	first *claim
	ready chan struct{} // closed when it holds
	holds bool
	hold  *hold        // what it holds, or waits in as a fork; else nil
	open  int          // claims of its own, and contenders below that hold
	queue []*contender // those below
}

// A hold is what a contender below the root was granted, and its forks share.
type hold struct {
	token      lease.Token
	since      time.Time
	claims     map[*claim]struct{} // the open ones
	loss       error               // nil unless it is lost
	lostAt     time.Time
	lost       chan struct{} // closed when it is
	revocation chan struct{} // closed when it is requested
	requested  bool
}

// join returns a claim that is granted, or one whose contender is in a queue.
func (a *Acquirer) join(ctx context.Context) (*claim, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := cmp.Or(a.misused(), a.nextFailure()); err != nil {
		return nil, err
	}
	above := &a.root
	for outer, forked := range owner.Claims[*claim](ctx) {
		c := outer.contender
		switch {
		case outer.a != a || a.Permits > 0: // another's, or not re-entered
			continue
		case c.isLost():
			return nil, a.failed(c.hold.loss)
		case c.open == 0: // released
			continue
		case !forked:
			further := a.newClaim(ctx, c)
			further.begin()
			return further, nil
		}
		above = c
		break
	}
	c := &contender{above: above, ready: make(chan struct{}), hold: above.hold}
	c.first = a.newClaim(ctx, c)
	above.queue = append(above.queue, c)
	a.admit(above)
	return c.first, nil
}

// nextFailure returns what FailNext has planned for a call.
func (a *Acquirer) nextFailure() error {
	if len(a.failures) == 0 {
		return nil
	}
	err := a.failures[0]
	a.failures = a.failures[1:]
	switch timeout := (*lease.TimeoutError)(nil); {
	case err == nil, errors.As(err, &timeout):
		return err
	case errors.Is(err, lease.ErrTimeout):
		return &lease.TimeoutError{Path: a.path(), Ahead: 1}
	}
	return a.failed(err)
}

// admit grants what is free below a contender, in one step with what made it free.
func (a *Acquirer) admit(above *contender) {
	capacity := 1
	if above == &a.root {
		capacity = max(a.Permits, 1)
	}
	for _, c := range above.queue[:min(capacity, len(above.queue))] {
		if c.holds || c.isLost() {
			continue
		}
		if c.hold == nil {
			a.token++
			c.hold = &hold{token: a.token, since: time.Now(), claims: map[*claim]struct{}{}, lost: make(chan struct{}), revocation: make(chan struct{})}
		}
		c.holds = true
		above.open++
		c.first.begin()
		close(c.ready)
	}
}

// await waits until a contender holds, or will not.
func (c *contender) await(ctx context.Context, timeout time.Duration) {
	var lost chan struct{}
	if above := c.above.hold; above != nil {
		lost = above.lost
	}
	var late <-chan time.Time
	if timeout != lease.Forever {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-c.ready:
	case <-lost:
	case <-late:
	case <-ctx.Done():
	}
}

func (c *contender) isLost() bool { return c.hold != nil && c.hold.loss != nil }

// leave takes a contender out of its queue.
func (a *Acquirer) leave(c *contender) {
	c.above.queue = slices.DeleteFunc(c.above.queue, func(other *contender) bool { return other == c })
	a.admit(c.above)
}

// holds returns those that are not over.
func (a *Acquirer) holds() (all []*hold) {
	for _, c := range a.root.queue {
		if c.holds {
			all = append(all, c.hold)
		}
	}
	return all
}

// lose ends the hold.
func (h *hold) lose(path string, reason error) {
	h.lostAt = time.Now()
	h.loss = &lease.LossError{Path: path + "/" + nodeOf(h.token), Token: h.token, Held: h.lostAt.Sub(h.since), Reason: reason}
	close(h.lost)
	for c := range h.claims {
		c.end(h.loss)
	}
}
