// Package oncegocron lets a job of gocron (github.com/go-co-op/gocron/v2) run once per
// tick for all processes, in one of them, although each has a scheduler of its own. It
// joins gocron, which decides when a process tries, to package recipes/once, which sees
// to it that one of them succeeds.
//
//	report, err := once.New(client, "/jobs/report")
//	...
//	_, err = oncegocron.NewJob(scheduler, report, oncegocron.CronJob("0 3 * * *"),
//		func(ctx context.Context, held *lease.Lease, tick time.Time) error {
//			return writeReport(ctx, tick, held.Token())
//		})
//
// # What happens once
//
// A tick is a moment for which the job is scheduled. Each process that has the job
// tries to run each tick: one begins, and the task of the others waits until it has
// finished. A tick is recorded once, when the task of one process has returned nil. If
// the task returns an error, or its process is killed, paused or cut off, the next one
// that waits begins it again. So a tick may be begun more than once: see package once
// for what that means for the work, and for how long records are kept. A tick that
// failed everywhere, or for which no process was running, is not made up, except by a
// run at once before the next tick (below).
//
// # Ticks and clocks
//
// The moments depend on the definition alone, so that all processes have the same: not
// on when one was started, nor on when it last ran. The tick of a run is the newest
// moment that is not later than now, by the clock of this machine.
//
//   - A clock that is wrong. A process whose clock is ahead begins a tick early; those
//     that come to that tick later find its record, even if the run was very short. No
//     lock has to be held for a minimum time.
//   - A run that begins late, because the process was paused or all workers were busy,
//     is for the newest tick. Those that it has missed are left to other processes.
//   - A clock that is set back makes a timer end early. So a run counts for the next
//     tick if that is less than a quarter of the interval away, and less than a minute.
//   - Daylight saving. A moment that does not exist because clocks are put forward is
//     no tick. Where they are put back, the hour that comes twice counts once, unless
//     the crontab is for all 24 hours.
//
// Processes must agree on the definition and, for a crontab, on its location: use
// gocron.WithLocation(time.UTC), or begin it with "TZ=". The default is that of the
// machine.
//
// # With gocron's options
//
//   - gocron.WithStartImmediately, and Job.RunNow: the newest tick is run now, unless
//     it is recorded. So a process that starts makes up a tick that all have missed.
//     Keep records for longer than the interval (once.WithRetention): else that may
//     fail with once.ErrForgotten.
//   - gocron.WithSingletonMode is about one process. As the others wait for the one
//     that runs a tick, they do not begin the next one either, but a process that
//     starts meanwhile may. A mutex in the task excludes that.
//   - gocron.WithLimitConcurrentJobs counts a task that waits.
//   - Listeners and monitors see a task that succeeds in each process, also where it
//     only waited.
//   - Shutdown ends the context of the task. If the task then returns an error, another
//     process begins it again.
//
// # Why not a Locker or an Elector
//
// gocron's Locker is given the name of the job, but not the moment for which the run is
// scheduled, and it is not told whether the task succeeded. So it cannot record a tick:
// if a clock is wrong or a process was paused, a job runs twice, and after a crash no
// process takes the run over. A Locker is not called for the jobs of NewJob. An Elector
// is, but they need none.
//
// # Other definitions of gocron
//
// A DailyJob, WeeklyJob or MonthlyJob of each day, week or month can be written as a
// crontab. With a longer interval its days depend on when the process was started, and
// those of a DurationRandomJob on chance: so processes have no ticks in common. For a
// OneTimeJob use the key of a once.Job, in a task of gocron's own.
package oncegocron
