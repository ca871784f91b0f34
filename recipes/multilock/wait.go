package multilock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// longestPause bounds the pause between two tries.
const longestPause = time.Second

// A wait is one call of Acquire: tries, one after another.
type wait struct {
	lock    *Lock
	ctx     context.Context
	timeout time.Duration
	start   time.Time
}

// A verdict says what follows a try that has failed.
type verdict int

const (
	final  verdict = iota
	lost           // one of the locks, before all were held: another try may succeed
	slowed         // only the limit has passed: another try with a greater one may succeed
)

// run tries until all locks are held.
func (w *wait) run() (*lease.Lease, error) {
	limits := w.lock.limits.Start()
	limit := next(limits)
	for {
		held, after, err := w.try(limit)
		switch {
		case err == nil:
			return lease.New(held), nil
		case after == slowed:
			w.pause(min(limit/8, longestPause))
			limit = next(limits)
		}
		if after == final || w.ctx.Err() != nil || w.timeout > 0 && w.left() == over {
			return nil, w.explain(err, after)
		}
	}
}

// next is the next limit.
func next(limits *retry.Schedule) time.Duration {
	if limit, limited := limits.Next(); limited {
		return limit
	}
	return lease.Forever
}

// try acquires one lock after the other, each with the context of the one before: so
// the context of the last one owns all, and ends with the first that ends. It waits no
// longer than limit for a lock while it holds others. On failure nothing is held.
func (w *wait) try(limit time.Duration) (_ *claim, after verdict, err error) {
	var held []*lease.Lease
	ctx, keepsOthersOut := w.ctx, false
	for _, m := range w.lock.members {
		timeout := w.left()
		limited := keepsOthersOut && limit < timeout
		if limited {
			timeout = limit
		}
		l, err := m.Acquire(ctx, timeout)
		if err != nil {
			after := w.judge(err, limited, held)
			releaseAll(held)
			return nil, after, err
		}
		held, ctx = append(held, l), l.Context()
		// What the caller had already is not free for others when it is released here.
		keepsOthersOut = keepsOthersOut || hold.HandleOf(l).IsAlone()
	}
	return newClaim(w.lock.members, held), final, nil
}

// over is what is left when the time is up.
const over = time.Duration(1)

// left is the timeout for what remains.
func (w *wait) left() time.Duration {
	if w.timeout <= 0 || w.timeout == lease.Forever {
		return w.timeout
	}
	return max(w.timeout-time.Since(w.start), over) // 0 would mean at once
}

// judge says what follows a try that failed with err when some locks were held.
func (w *wait) judge(err error, limited bool, held []*lease.Lease) verdict {
	switch {
	case w.ctx.Err() != nil:
	case limited && errors.Is(err, lease.ErrTimeout):
		return slowed
	case slices.ContainsFunc(held, func(l *lease.Lease) bool { return l.Err() != nil }):
		return lost
	}
	return final
}

// pause waits, while there is time.
func (w *wait) pause(d time.Duration) { _ = retry.Sleep(w.ctx, min(d, w.left())) }

// explain returns the error of the last try for the caller.
func (w *wait) explain(err error, after verdict) error {
	first := w.lock.members[0].recipe
	cause := context.Cause(w.ctx)
	late := (*lease.TimeoutError)(nil)
	switch {
	case errors.Is(w.ctx.Err(), context.Canceled):
		if errors.Is(err, cause) {
			return err
		}
		return first.Failed(cause)
	case errors.As(err, &late):
	case after == final:
		return err
	default: // one of the locks was lost before all were held
		late = &lease.TimeoutError{Path: first.Client.FullPath(first.Path), Ahead: -1, Err: err}
		if loss := (*lease.LossError)(nil); errors.As(err, &loss) {
			late.Err = loss.Reason
		}
		err = late
	}
	if late.Cause = cause; w.timeout > 0 {
		late.Waited = time.Since(w.start)
	}
	return err
}

// releaseAll releases locks that were held for a moment only, the last one first.
func releaseAll(held []*lease.Lease) {
	for _, l := range slices.Backward(held) {
		_ = l.ReleaseAsync()
	}
}
