// Package once has work done once in the whole cluster: once per key, such as an
// invoice to be sent, or once per tick, such as the report of each night, however many
// processes try, and although they may be killed while they do.
//
//	report, err := once.New(client, "/jobs/report")
//	if err != nil {
//		return err
//	}
//	err = report.Do(ctx, "2026-11-26", func(ctx context.Context, held *lease.Lease) error {
//		return write(ctx, held.Token())
//	})
//
// [Job.Do] returns nil when the run of that key is finished: by this call, or by that
// of another process, for which it waits. A run is finished when fn has returned nil
// and that was recorded. While fn runs, its process holds a lock on the key. If it
// fails, or its lease is lost because the process was killed, paused or cut off, the
// next process that waits begins the run again.
//
// # What happens once
//
// A run is recorded once, in a transaction that fails unless the lock is still held. It
// may be begun more than once: nobody can know how much of its work a killed process
// has done. So what fn does elsewhere happens once only if the place where it does that
// helps:
//
//   - A change in ZooKeeper itself: give it to [Run.Record], which carries it out in the
//     transaction that records the run.
//   - A store that can remember the key together with the change, in one transaction, as
//     a table with a unique column can. It should also refuse a token ([lease.Lease.Token])
//     smaller than the greatest it has seen, for the key or at all: then a process that
//     was paused, and lost its lease, changes nothing after the one that came after it.
//   - Anything else, such as an e-mail, is done again if the process is killed between
//     that and the record.
//
// # Ticks
//
// A tick is the run of a scheduled moment: [Job.Tick]. Each process calls Do for each
// of its ticks; the first one runs it, and the others wait until it is recorded, so
// that there is always one that takes over. Their clocks need not agree: a process that
// is late finds the record, which takes the place of a minimum time to hold a lock.
// Modules contrib/cron and contrib/gocron do this for the two popular schedulers.
//
// # Records
//
// Records are kept for 24 hours ([WithRetention]), and removed by the processes that
// make new ones, so that they are as many as the runs of that time, at most
// [MaxRecords]. After that a key is forgotten, and would be run again: two records of
// one key are at least the retention apart, by the clocks of the servers. A tick is
// never recorded twice: the path stores up to which moment records were removed, and
// ticks that are not later are refused with [ErrForgotten], also from a process that
// was paused for a week. So the retention has to be longer than any run.
//
// The record of a run is the node path/done/NAME, and its lock that of a mutex at
// path/NAME, where NAME is the escaped key or the tick with a suffix: "2026-11-26.key",
// "2026-11-26T03:00:00Z.tick". To have a run done again delete its record, and to have
// it never done make one. The node path/done stays; the others are containers, which
// the server removes when they are not used any more. Apache Curator has no such
// recipe.
package once
