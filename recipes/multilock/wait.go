package multilock

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// shortestPause and longestPause bound the pauses between tries. Those after a loss
// grow from the one to the other.
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = time.Second
)

// A wait is one call of Acquire: tries, one after another.
type wait struct {
	lock    *Lock
	ctx     context.Context
	timeout time.Duration
	start   time.Time
	order   []member // in which the next try acquires the locks
}

// A verdict says what follows a try that has failed.
type verdict int

const (
	final  verdict = iota
	lost           // one of the locks was, before all were held: another try may succeed
	slowed         // only the limit has passed: another try with a greater one may succeed
)

// run tries until all locks are held.
func (w *wait) run() (*lease.Lease, error) {
	limits := w.lock.limits.Start()
	limit, rest := next(limits), shortestPause
	if held := w.together(limit); held != nil {
		return held, nil
	}
	for {
		held, after, err := w.try(limit)
		switch {
		case err == nil:
			return held, nil
		case after == final, w.timeout <= 0:
			return nil, w.explain(err, after)
		case after == slowed:
			w.pause(min(limit/8, longestPause))
			limit = next(limits)
		case after == lost:
			w.pause(rest)
			rest = min(2*rest, longestPause)
		}
		if w.ctx.Err() != nil || w.left() == acquire.TimeUp {
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
// longer than limit for a lock while it holds others; if that has passed, the next try
// begins with the lock that this one could not get. On failure nothing is held.
func (w *wait) try(limit time.Duration) (_ *lease.Lease, after verdict, err error) {
	all := new(hold.Several)
	ctx, over := w.context(limit)
	defer over()
	keepsOthersOut := false
	for i, m := range w.order {
		timeout := w.left()
		limited := keepsOthersOut && limit < timeout
		if limited {
			timeout = limit
			hold.TentativeOf(ctx).Limit()
		}
		first := false
		l, err := m.Acquire(ctx, timeout)
		if err == nil {
			first, err = all.Add(ctx, l, m.given)
		}
		if err != nil {
			after := judge(err, limited, all)
			all.Undo()
			if after == slowed {
				w.beginWith(i)
			}
			return nil, after, err
		}
		// What the caller had already is not free for others when it is released here.
		ctx = l.Context() //nolint:fatcontext // they are few
		if first && !keepsOthersOut {
			keepsOthersOut, limit = true, spread(limit, l.Path())
		}
	}
	return all.Lease(), final, nil
}

// context returns the context for a try with a limit.
func (w *wait) context(limit time.Duration) (_ context.Context, over func()) {
	if limit == lease.Forever {
		return w.ctx, func() {}
	}
	return hold.Tentatively(w.ctx)
}

// spread returns half of a limit or more, by the name of the first znode, which is one
// of a kind: two that wait for each other, each for the lock that the other one holds,
// must not begin again in step.
func spread(limit time.Duration, node string) time.Duration {
	if limit == lease.Forever {
		return limit
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(node))
	return limit - limit/2/1000*time.Duration(h.Sum32()%1000)
}

// beginWith makes a lock the first one. The next try waits for it holding none, so
// without a limit and at one position of its queue. In the order of the paths it would
// wait in vain again where clients of another order contend all the time: by its next
// turn at the first lock one of them holds this one. The limits apply as before, so it
// blocks those in the order of the paths for no longer than any foreign order.
func (w *wait) beginWith(i int) {
	m := w.order[i]
	w.order = slices.Insert(slices.Delete(w.order, i, i+1), 0, m)
}

// stayApart is how many calls of Acquire do not try to take all locks in one
// transaction when one could not: it costs requests for nothing.
const stayApart = 8

// together takes all locks in one transaction, where that is possible and all are free.
// Otherwise it returns nil. A call that must not wait first finds out by reading.
func (w *wait) together(limit time.Duration) *lease.Lease {
	l := w.lock
	if w.timeout <= 0 || l.recipes == nil || !acquire.MayGoTogether(w.ctx, l.recipes) {
		return nil
	}
	if n := l.apart.Load(); n > 0 {
		l.apart.CompareAndSwap(n, n-1)
		return nil
	}
	ctx, over := w.context(limit)
	defer over()
	held, err := acquire.Together(ctx, l.recipes, l.ranks, w.left())
	if err != nil && !errors.Is(err, framework.ErrNoNode) { // a parent, which the next step makes
		l.apart.Store(stayApart)
	}
	return held // the next step says what has failed
}

// left is the timeout for what remains.
func (w *wait) left() time.Duration { return acquire.Left(w.timeout, w.start) }

// judge says what follows a try that failed with err when some locks were held.
func judge(err error, limited bool, held *hold.Several) verdict {
	switch {
	case limited && errors.Is(err, lease.ErrTimeout):
		return slowed
	case held.Lost():
		return lost
	}
	return final
}

// pause waits, while there is time.
func (w *wait) pause(d time.Duration) { _ = retry.Sleep(w.ctx, min(d, w.left())) }

// explain returns the error of the last try for the caller.
func (w *wait) explain(err error, after verdict) error {
	if end, some := w.ctx.Deadline(); some && !time.Now().Before(end) {
		<-w.ctx.Done() // a context that derives from it may have a timer of its own
	}
	first, cause := w.lock.members[0].recipe, context.Cause(w.ctx)
	late := (*lease.TimeoutError)(nil)
	switch {
	case errors.Is(w.ctx.Err(), context.Canceled):
		if errors.Is(err, cause) {
			return err
		}
		return first.Failed(cause)
	case errors.As(err, &late):
		own := *late // observers have the other one
		late, err = &own, &own
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
