package oncegocron

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// A Func is the work of one tick, under a lease on it: see once.Run.Do. What it stores
// should depend on the tick, not on the clock, as the run may begin late. The tick is
// in the location of the scheduler.
type Func func(ctx context.Context, held *lease.Lease, tick time.Time) error

// NewJob adds a job to a scheduler: at each moment of the definition its task waits
// until the tick is recorded, or runs fn, as once.Run.Do does. The task returns the
// error of that, which listeners of gocron get. Options are those of gocron. The
// default name is that of fn. Locker, cron implementation and policy of daylight saving
// have no effect.
//
// Two jobs of one scheduler may share a once.Job if fn is the same: a tick of both is
// run once. NewJob panics as job.Tick does if once.New has not made the job. Errors:
// framework.ErrInvalidArgument, gocron.ErrCronJobParse, gocron.ErrCronJobInvalid, and
// those of Scheduler.NewJob.
func NewJob(scheduler gocron.Scheduler, job *once.Job, when Definition, fn Func, opts ...gocron.JobOption) (gocron.Job, error) {
	_ = job.Tick(time.Now()) // panics here, not in a task
	if scheduler == nil || when.parse == nil || fn == nil {
		return nil, fmt.Errorf("oncegocron.NewJob: %w: the scheduler, the definition or fn is zero", framework.ErrInvalidArgument)
	}
	times := &moments{parse: when.parse}
	task := func(ctx context.Context) error {
		tick := times.tick(when.now())
		return job.Tick(tick).Do(ctx, func(ctx context.Context, held *lease.Lease) error { return fn(ctx, held, tick) })
	}
	named := gocron.WithName(runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name())
	opts = append([]gocron.JobOption{named}, opts...)
	return scheduler.NewJob(gocron.CronJob(when.text, false), gocron.NewTask(task), append(opts,
		gocron.WithCronImplementation(times),
		gocron.WithDisabledDistributedJobLocker(true),
		gocron.WithDaylightSavingsTimePolicy(gocron.DaylightSavingsTimeDefault),
	)...)
}
