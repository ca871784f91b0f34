package oncecron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// A Func is the work of a tick. Its context ends when the lease is over, and when the
// one given to AddFunc ends. The tick is finished if it returns nil.
type Func func(ctx context.Context, held *lease.Lease, tick time.Time) error

// An Option changes how the ticks of one entry are run.
type Option func(*entry)

// OnError has f called with what made a run fail, and its tick: an error of the
// function, of package once, or the lease.ErrLost of a run that this process then tries
// to begin again. It is called in the goroutine of the run. The default logs with
// slog.Default. After the end of the context there are no more calls.
func OnError(f func(tick time.Time, err error)) Option { return func(e *entry) { e.onError = f } }

func logError(tick time.Time, err error) {
	slog.Default().Error("the run of a tick failed", "tick", tick, "error", err)
}

// AddFunc is Schedule with a specification, for the parser of c.
func AddFunc(ctx context.Context, c *cron.Cron, spec string, job *once.Job, fn Func, opts ...Option) (cron.EntryID, error) {
	if c == nil {
		return 0, invalid("no Cron")
	}
	// Only an entry shows how c reads the specification. This one does nothing.
	parsed, err := c.AddFunc(spec, func() {})
	if err != nil {
		return 0, fmt.Errorf("oncecron: %w", err)
	}
	defer c.Remove(parsed)
	return Schedule(ctx, c, c.Entry(parsed).Schedule, job, fn, opts...)
}

// Schedule adds fn to c: each tick of the schedule is run by one of the processes that
// call this with a job of the same path. No two entries may share a path. ctx bounds
// all runs.
//
// The schedule must depend on nothing but the time. In place of a
// cron.ConstantDelaySchedule, which depends on when the process was started, its
// multiples are used, as time.Time.Truncate counts: from midnight in UTC if a day is a
// multiple of the interval.
func Schedule(ctx context.Context, c *cron.Cron, schedule cron.Schedule, job *once.Job, fn Func, opts ...Option) (cron.EntryID, error) {
	switch {
	case c == nil:
		return 0, invalid("no Cron")
	case schedule == nil:
		return 0, invalid("no schedule")
	case job == nil:
		return 0, invalid("no job")
	case fn == nil:
		return 0, invalid("no function")
	}
	e := &entry{ctx: ctx, cron: c, job: job, fn: fn, onError: logError, ticks: ticks{of: aligned(schedule)}, added: make(chan struct{})}
	for _, opt := range opts {
		opt(e)
	}
	e.id = c.Schedule(&e.ticks, e)
	close(e.added)
	return e.id, nil
}

func invalid(what string) error {
	return fmt.Errorf("oncecron: %w: %s", framework.ErrInvalidArgument, what)
}

// An entry is the cron.Job of an entry.
type entry struct {
	ctx     context.Context
	cron    *cron.Cron
	job     *once.Job
	fn      Func
	onError func(tick time.Time, err error)
	ticks   ticks

	id    cron.EntryID // set once added is closed
	added chan struct{}
}

// Run runs a tick that has fired.
func (e *entry) Run() {
	<-e.added
	// The goroutine of c starts a run before it stores the tick as Prev, and answers
	// after that. So this is the tick of this run, or a later one.
	fired := e.cron.Entry(e.id).Prev
	if fired.IsZero() {
		return // the entry was removed
	}
	tick := e.ticks.take(fired)
	for e.ctx.Err() == nil {
		err := e.job.Tick(tick).Do(e.ctx, func(ctx context.Context, held *lease.Lease) error { return e.fn(ctx, held, tick) })
		if err == nil || e.ctx.Err() != nil {
			return
		}
		e.onError(tick, err)
		if !beginsAgain(err) {
			return
		}
	}
}

// beginsAgain reports whether this process begins a run again. After a loss the others
// may be gone, and then no other would. But a run that takes longer than is allowed
// would do so again, and a client that is closed gets no lease.
func beginsAgain(err error) bool {
	return errors.Is(err, lease.ErrLost) && !errors.Is(err, lease.ErrMaxHold) && !errors.Is(err, framework.ErrClosed)
}
