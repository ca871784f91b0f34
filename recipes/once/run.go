package once

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/records"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Run is the run of one key or tick of a job: a lock that nobody gets any more once
// the run is recorded. Any number of goroutines may use one value. Job.Key and Job.Tick
// make it.
type Run struct {
	job    *Job
	key    string // or the tick as a text
	name   records.Name
	recipe acquire.Recipe // without the queue: there is more to a grant
	queue  *queue.Queue
}

var _ lease.Acquirer = (*Run)(nil)

// maxKey is the length of the longest key, in bytes: it is a part of the record.
const maxKey = 1024

// check fails unless a job made the run.
func (r *Run) check() error {
	if r == nil || r.job == nil {
		return recipepath.NotMade("once.Run")
	}
	if _, _, ok := znode.ParseRun(r.name.Node); !ok || len(r.key) > maxKey {
		return fmt.Errorf("once %s: %w: %s: a key has at most %d bytes, and no tick is at the zero time",
			quote.Path(r.recipe.Of), framework.ErrInvalidArgument, quote.Excerpt([]byte(r.key)), maxKey)
	}
	return nil
}

// Do waits until nobody else has the run, and then runs fn under a lease on it, unless
// the run is recorded meanwhile. If fn returns nil the run is recorded, by Record, also
// if ctx has ended by then. fn may call Record itself; it must not release the lease.
//
// nil means that the run is recorded: by this call, by another, or before. Otherwise
// the error is that of Acquire, of fn or of Record, and of those who wait for the run
// the next one begins, unless the run is recorded all the same: see Record.
func (r *Run) Do(ctx context.Context, fn func(ctx context.Context, held *lease.Lease) error) error {
	if err := r.check(); err != nil {
		return err
	}
	if fn == nil {
		return fmt.Errorf("once.Do: %w: fn is nil", framework.ErrInvalidArgument)
	}
	a := acquirer{Run: r}
	err := lease.Do(ctx, &a, lease.Forever, func(ctx context.Context, held *lease.Lease) error {
		if !a.waited { // it entered a lease under which the run may have been recorded
			if err := a.unrecorded(ctx, r.recipe.Client); err != nil {
				return err
			}
		}
		if err := fn(ctx, held); err != nil {
			return err
		}
		// The work is done: that the caller's context ends is no reason to do it again.
		err := r.Record(context.WithoutCancel(ctx), held)
		a.recorded = err == nil || r.isRecordedUnder(held) // by fn, and the lease is over
		return err
	})
	if a.recorded {
		return nil // a lease that was lost after that was needed for nothing
	}
	return err
}

// An acquirer is one Acquire of a run.
type acquirer struct {
	*Run
	waited   bool // and did not re-enter
	recorded bool // it found a record, or has made one
}

// Acquire waits up to timeout until nobody else has the run. See lease.Acquirer for
// everything that all recipes have in common. It also fails with ErrRecorded, as soon
// as the run is recorded, with ErrForgotten and ErrTooManyRecords. A timeout of 0 or
// less acquires the run only if it is free now, and costs two reads if it is not. With
// the context of a lease on the run it re-enters that, recorded or not.
func (r *Run) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return (&acquirer{Run: r}).Acquire(ctx, timeout)
}

// Acquire is that of the run.
func (a *acquirer) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return a.recipe.Acquire(ctx, timeout, a.take)
}

// take waits in the queue, and for the record.
func (a *acquirer) take(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
	a.waited = true
	if err := a.unrecorded(ctx, t.Client); err != nil {
		return nil, err
	}
	if err := t.CheckFree(ctx, a.queue); err != nil {
		return nil, err
	}
	t.Verify = func(ctx context.Context, _ string, _ int64) error { return a.verify(ctx, t.Client) }
	p, err := t.Await(ctx, a.queue, &queue.Dependency{Watch: func(ctx context.Context) (*framework.Watch, bool, error) {
		return a.watch(ctx, t.Client)
	}})
	if err != nil {
		return nil, err
	}
	return t.Grant(p)
}

// unrecorded returns an ErrRecorded if the run is recorded.
func (a *acquirer) unrecorded(ctx context.Context, c *framework.Client) error {
	data, err := a.job.records.Get(ctx, c, a.name)
	if err == nil && data != nil {
		a.recorded, err = true, recordedBy(data)
	}
	return err
}

// watch is unrecorded with a watch, for those that wait.
func (a *acquirer) watch(ctx context.Context, c *framework.Client) (*framework.Watch, bool, error) {
	recorded, _, w, err := c.ExistsWatch(ctx, a.job.records.PathOf(a.name))
	if err == nil && recorded {
		err = a.unrecorded(ctx, c)
	}
	return w, false, err
}

// verify returns an error unless the run, to which this client was admitted, may begin.
// The record of an earlier holder is older than the deletion of its node, which this
// session has seen or sent: so a read shows it.
func (a *acquirer) verify(ctx context.Context, c *framework.Client) (err error) {
	var room error
	var other sync.WaitGroup
	other.Go(func() { room = a.job.records.Room(ctx, c, a.name) })
	err = a.unrecorded(ctx, c)
	other.Wait()
	return cmp.Or(err, room)
}
