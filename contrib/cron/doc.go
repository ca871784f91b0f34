// Package oncecron has the jobs of github.com/robfig/cron done once in the whole
// cluster: each process has the same schedule, and each tick of it is run by one of
// them.
//
//	job, err := once.New(client, "/jobs/report")
//	c := cron.New(cron.WithLocation(time.UTC))
//	id, err := oncecron.AddFunc(ctx, c, "0 3 * * *", job,
//		func(ctx context.Context, held *lease.Lease, tick time.Time) error {
//			return write(ctx, tick, held.Token())
//		})
//	c.Start()
//
// To end, cancel ctx, wait for <-c.Stop().Done(), and close the client. Without the
// first step Stop waits until all ticks that have begun are recorded, also by other
// processes.
//
// # What is guaranteed
//
// A tick is recorded as finished once, when the function has returned nil. It may be
// begun more than once: after a process was killed, paused or cut off, the next one
// begins the tick again, without knowing how far the first one came. So what the
// function does elsewhere happens once only if the place where it does that remembers
// the tick, in one transaction with the change, and refuses a token that is smaller
// than the greatest one it has seen for that tick. A change in ZooKeeper is given to
// [once.Run.Record], as job.Tick(tick).Record(ctx, held, change): it is carried out in
// the transaction that records the tick. See package once.
//
// A tick is finished as long as one process is alive that has seen it begin, and the
// function succeeds there. A process for which the function fails does not try that
// tick again. A process that loses its lease does, unless the loss was by
// [once.WithMaxHold].
//
// Ticks at which no process was running are not made up for. Nor are those that pass
// while a process is paused, with one exception: it runs the tick that it was waiting
// for, late, unless that is recorded. The function can compare the tick with the time.
//
// # Ticks
//
// A tick is the moment for which the schedule has planned the run, not the one at which
// it begins. That is what makes it equal on all machines. Their clocks need not agree:
// one that is behind finds the tick recorded, and so does one that is set back. But the
// retention of the job has to be longer than clocks are apart.
//
// All processes need the same schedule in the same time zone: see [cron.WithLocation],
// or write CRON_TZ=Europe/Berlin before the specification. The best zone is UTC. In
// others an hour of the day exists twice or not at all when the clocks change, and with
// it the ticks in it; and where they change at midnight or by half an hour, cron may
// miss a tick of that day.
//
// The intervals of "@every 5m" begin, for cron, when the process starts. Here they are
// the same on all machines: see [Schedule].
//
// # Overlapping runs
//
// A tick begins although that before it still runs, perhaps in another process. With
// cron.SkipIfStillRunning it is skipped instead, as each process is busy with a tick
// until that is recorded; but one that was started meanwhile skips nothing. If runs
// must not overlap, acquire a mutex in the function. With cron.DelayIfStillRunning the
// newest of several delayed ticks is first.
//
// A tick that waits, for its goroutine or for such a wrapper, is not begun any more
// after its entry was removed.
package oncecron
