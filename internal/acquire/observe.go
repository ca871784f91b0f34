package acquire

import (
	"cmp"
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An observation is one call of Acquire as the client's observers see it. It is in the
// context of the call, so that re-entry, and the takers of several recipes, can add to
// it. Nil if there are no observers.
type observation struct {
	work      context.Context // that it is in; holds derive from it
	requests  context.Context // the caller's, with the values that the observers add
	start     time.Time
	ended     func(framework.AcquireEnd) // nil once they were notified
	measured  queue.Measured
	reentered bool
}

type observationKey struct{}

// Observed notifies the client's observers of one call of Acquire, which acquire
// carries out with the context that it is given.
func (r *Recipe) Observed(ctx context.Context, permits int, timeout time.Duration, acquire func(ctx context.Context) (*lease.Lease, error)) (*lease.Lease, error) {
	if err := r.answer(ctx); err != nil {
		return nil, err
	}
	requests, ended := kit.Of(r.Client).AcquireStarted(ctx, framework.AcquireInfo{
		Recipe: r.Kind, Path: cmp.Or(r.Of, r.Path), Lock: r.Path, Permits: permits, Timeout: timeout,
	})
	if ended == nil {
		if observing(ctx) != nil { // of an acquire by another client that has observers
			ctx = context.WithValue(ctx, observationKey{}, (*observation)(nil))
		}
		return acquire(ctx)
	}
	o := &observation{requests: requests, start: time.Now(), ended: ended, measured: queue.Measured{Ahead: -1}}
	o.work = context.WithValue(ctx, observationKey{}, o)
	held, err := acquire(o.work)
	o.end(err)
	return held, err
}

// observing returns the observation that ctx has.
func observing(ctx context.Context) *observation {
	o, _ := ctx.Value(observationKey{}).(*observation)
	return o
}

// forRequests returns the context for the requests of an acquire with ctx.
func (o *observation) forRequests(ctx context.Context) context.Context {
	if o == nil || ctx != o.work { // that which outlives a hold waits in memory, without requests
		return ctx
	}
	return o.requests
}

// end notifies the observers, once, how the acquire has ended.
func (o *observation) end(err error) {
	if o == nil || o.ended == nil {
		return
	}
	e := framework.AcquireEnd{Waited: time.Since(o.start), Ahead: o.measured.Ahead, Reentered: o.reentered, Err: err}
	if err == nil && !o.measured.Notified.IsZero() {
		e.HandOver = time.Since(o.measured.Notified)
	}
	o.ended(e)
	o.ended = nil
}
