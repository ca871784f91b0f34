package framework

import (
	"context"
	"time"
)

// observers are the functions that are set, by event.
type observers struct {
	stateChanged   []func(StateChange)
	requestEnded   []func(context.Context, Request)
	cleanupStarted []func(string)
	cleanupEnded   []func(string, error)
	acquires       []observed[AcquireInfo, AcquireEnd]
	holds          []observed[HoldInfo, HoldEnd]
}

// observed is one observer of what starts and ends.
type observed[S, E any] struct {
	started func(context.Context, S) context.Context
	ended   func(context.Context, E)
}

func newObservers(all []Observer) (o observers) {
	for _, one := range all {
		o.stateChanged = appendSet(o.stateChanged, one.StateChanged, one.StateChanged != nil)
		o.requestEnded = appendSet(o.requestEnded, one.RequestEnded, one.RequestEnded != nil)
		o.cleanupStarted = appendSet(o.cleanupStarted, one.CleanupStarted, one.CleanupStarted != nil)
		o.cleanupEnded = appendSet(o.cleanupEnded, one.CleanupEnded, one.CleanupEnded != nil)
		acquires, holds := observed[AcquireInfo, AcquireEnd]{one.AcquireStarted, one.AcquireEnded}, observed[HoldInfo, HoldEnd]{one.HoldStarted, one.HoldEnded}
		o.acquires = appendSet(o.acquires, acquires, acquires.started != nil || acquires.ended != nil)
		o.holds = appendSet(o.holds, holds, holds.started != nil || holds.ended != nil)
	}
	return o
}

// requestBegins returns the time, if there is an observer of requests.
func (c *Client) requestBegins() (begun time.Time) {
	if len(c.core.observers.requestEnded) > 0 {
		begun = time.Now()
	}
	return begun
}

// requestEnded completes the path, which is that of the view, and notifies observers.
func (c *Client) requestEnded(ctx context.Context, r Request, begun time.Time) {
	ended := c.core.observers.requestEnded
	if len(ended) > 0 {
		r.Path, r.Duration = c.full(r.Path), time.Since(begun)
	}
	for _, f := range ended {
		f(ctx, r)
	}
}

func appendSet[T any](all []T, one T, set bool) []T {
	if !set {
		return all
	}
	return append(all, one)
}

// start notifies observers that something has started. It returns a context with the
// values that they add, and a function that notifies them of the end.
func start[S, E any](ctx context.Context, all []observed[S, E], what S) (context.Context, func(E)) {
	contexts := make([]context.Context, len(all))
	for i, o := range all {
		if o.started != nil {
			ctx = withValues(ctx, o.started(ctx, what)) //nolint:fatcontext // each adds to the one before
		}
		contexts[i] = ctx
	}
	return ctx, func(end E) {
		for i, o := range all {
			if o.ended != nil {
				o.ended(contexts[i], end)
			}
		}
	}
}

// withValues returns ctx with the values of another context, nil for none. If that ends
// when ctx does, as one that derives from ctx and only adds values, it is the result.
// If not, only its values are taken: package context keeps the cause of an end among
// them, which must be that of ctx.
func withValues(ctx, values context.Context) context.Context {
	switch {
	case values == nil:
		return ctx
	case ctx.Done() != nil && values.Done() == ctx.Done():
		return values
	}
	return valuesOf{ctx, context.WithoutCancel(values)}
}

// A valuesOf ends with its Context, and has values of both.
type valuesOf struct {
	context.Context
	values context.Context
}

// Value prefers the values that were added.
func (v valuesOf) Value(key any) any {
	if value := v.values.Value(key); value != nil {
		return value
	}
	return v.Context.Value(key)
}

// AcquireStarted completes the path: a.Path is that of the view.
func (v recipeView) AcquireStarted(ctx context.Context, a AcquireInfo) (context.Context, func(AcquireEnd)) {
	all := v.core.observers.acquires
	if len(all) == 0 {
		return ctx, nil
	}
	a.Path, a.Lock = v.full(a.Path), v.full(a.Lock)
	ctx, ended := start(ctx, all, a)
	return ctx, func(end AcquireEnd) {
		end.AcquireInfo = a
		ended(end)
	}
}

// HoldStarted completes the paths, which are those of the view.
func (v recipeView) HoldStarted(ctx context.Context, h HoldInfo) (context.Context, func(HoldEnd)) {
	all := v.core.observers.holds
	if len(all) == 0 {
		return ctx, nil
	}
	h.Path, h.Lock, h.Node = v.full(h.Path), v.full(h.Lock), v.full(h.Node)
	ctx, ended := start(ctx, all, h)
	return ctx, func(end HoldEnd) {
		end.HoldInfo = h
		ended(end)
	}
}
