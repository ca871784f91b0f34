package faultsweep

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// stopTime is how long a leader takes to stop after its context has ended.
const stopTime = 29 * time.Millisecond

// errWork is the error of a leader's work that fails.
var errWork = errors.New("the work failed")

// lead runs a client that leads. The first Lead ends early; the second goes on until as
// many terms have run to their end as the plan has rounds.
func (r *run) lead(ctx context.Context, name string, c *framework.Client, way int) {
	if way%2 == 0 {
		r.leadUntilCancelled(ctx, name, c)
	} else {
		r.leadUntilClosed(ctx)
	}
	complete, terms := 0, way
	err := r.election(c, name).Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		defer r.startFunction(name, term)()
		terms++
		switch terms % 4 {
		case 0: // a revocation is requested, and the leader resigns then
			_ = lease.RequestRevocation(ctx, c, term.Path())
			r.work(ctx, name, term, r.plan.Hold+3*time.Second)
			return ctx.Err()
		case 1:
			r.work(ctx, name, term, r.plan.Hold/2)
			return errWork
		}
		r.work(ctx, name, term, r.plan.Hold)
		if term.Err() != nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if complete++; complete == r.plan.Rounds {
			return leader.ErrStop
		}
		return nil
	})
	if atTheEnd := complete == r.plan.Rounds && errors.Is(err, lease.ErrLost); err != nil && !atTheEnd {
		r.brokenf("I4: %s has led %d terms of %d: %v", name, complete, terms-way, err)
	}
}

// election returns the election, with a backoff without jitter.
func (r *run) election(c *framework.Client, name string) *leader.Election {
	terms := termsOf[r.plan.Recipe.Name]
	e, err := leader.New(c, path, leader.WithID(name), leader.WithBackoff(retry.Constant(50*time.Millisecond)),
		leader.WithLockDelay(terms.LockDelay), leader.WithMinHold(terms.MinHold))
	if err != nil {
		panic(err)
	}
	return e
}

// leadUntilCancelled calls Lead with a context that ends soon.
func (r *run) leadUntilCancelled(ctx context.Context, name string, c *framework.Client) {
	limited, cancel := context.WithTimeoutCause(ctx, 25*time.Millisecond, errCancelled)
	defer cancel()
	err := r.election(c, name).Lead(limited, func(ctx context.Context, term *lease.Lease) error {
		defer r.startFunction(name, term)()
		r.work(ctx, name, term, r.plan.Hold)
		return ctx.Err()
	})
	if !errors.Is(err, errCancelled) {
		r.brokenf("errors: Lead that was cancelled returned %v", err)
	}
}

// leadUntilClosed runs a client that is closed while it leads or waits.
func (r *run) leadUntilClosed(ctx context.Context) {
	c, closed := r.connectFor(ctx, quitter, 17*time.Millisecond)
	if c == nil {
		return
	}
	err := r.election(c, quitter).Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		defer r.startFunction(quitter, term)()
		r.work(ctx, quitter, term, r.plan.Hold)
		return nil
	})
	if !errors.Is(err, framework.ErrClosed) {
		r.brokenf("errors: Lead whose client was closed returned %v", err)
	}
	<-closed
}

// startFunction records that a function given to Lead begins. returned records its end.
func (r *run) startFunction(name string, term *lease.Lease) (returned func()) {
	r.recordGrant(name, term)
	r.mu.Lock()
	others := map[*lease.Lease]string{}
	for other, who := range r.leading {
		others[other] = who
	}
	r.leading[term] = name
	r.mu.Unlock()
	for other, who := range others {
		if who == name && name != quitter {
			r.brokenf("I1: %s runs two functions at once", name)
		}
		if other.Err() == nil && !r.excused(other) {
			r.brokenf("I1: %s begins to lead while the function of %s runs under a valid term", name, who)
		}
	}
	return func() {
		if errors.Is(term.Err(), lease.ErrReleased) {
			r.brokenf("I1: %s resigned before its function returned", name)
		}
		r.releasing(term)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.leading, term)
		if term.Err() != nil && name != quitter {
			r.report.Lost++
		}
	}
}

// work works as a leader for that time.
func (r *run) work(ctx context.Context, name string, term *lease.Lease, d time.Duration) {
	for range 3 {
		if retry.Sleep(ctx, d/3) != nil {
			break
		}
		r.confirm(name, term)
		r.look()
	}
	if ctx.Err() != nil {
		<-time.After(stopTime)
	}
}

// followLeaders follows the leaders until some time after the clients have closed.
func (r *run) followLeaders(done <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := framework.Connect(ctx, r.config("observer"))
	if err != nil {
		r.brokenf("I4: the observer could not connect: %v", err)
		return
	}
	defer func() { _ = c.Close() }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-done
		<-time.After(Past + 2*conformance.SessionTimeout) // sessions that could not be closed have expired
		cancel()
	}()
	last, token := "nothing", lease.Token(0)
	for present, err := range r.election(c, "observer").Observe(ctx) {
		switch {
		case err != nil:
			r.brokenf("errors: Observe ended with %v", err)
		case present.Node != "" && present.Token <= token:
			r.brokenf("I2: Observe went back from token %d to %d", token, present.Token)
		case present.Node != "":
			token = present.Token
		}
		last = present.Node
	}
	<-ended
	if last != "" {
		r.brokenf("I4: Observe has not seen that there is no leader, but %s", last)
	}
}
