// Package once has work done once for all processes, by one of them: once per key, such
// as an invoice to be sent, or once per tick, such as the report of each night, however
// many processes try, and although they may be killed while they do.
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
// has done. So what fn does elsewhere happens once only if that place helps:
//
//   - ZooKeeper itself: give the change to [Run.Record], which carries it out in the
//     transaction that records the run. A change of its own, in a transaction with
//     [lease.Lease.Check], is made by the holder only, but by each of them.
//   - A store that remembers the key together with the change, in one transaction, as a
//     table with a unique column does. It should also refuse a token
//     ([lease.Lease.Token]) that is smaller than the greatest it has seen of the key:
//     then a process that was paused, and has lost its lease, changes nothing behind
//     the one that came after it.
//   - Anything else, such as an e-mail, is done again if the process is killed between
//     that and the record.
//
// # Ticks
//
// A tick is the run of a scheduled moment: [Job.Tick]. Each process calls Do for each
// of its ticks, as the modules contrib/cron and contrib/gocron do for two schedulers.
// The first one runs it, and the others wait until it is recorded, so that there is one
// that takes over. Their clocks need not agree: a process that is late finds the
// record, which takes the place of a minimum time to hold a lock.
//
// # Records
//
// Records are kept for 24 hours ([WithRetention]), and removed by the processes that
// make new ones: so there are about as many as runs in that time, and never more than
// about [MaxRecords]. After that time a key is forgotten, and is run again if somebody
// asks for it: two records of one key are at least the retention apart, by the clocks
// of the servers. A tick is never recorded twice: the path stores up to which moment
// records were removed, and ticks that are not later are refused with [ErrForgotten],
// also from a process that was paused for a week. So the retention has to be longer
// than any run. One clock that is ahead changes nothing. If those of a process and of
// the servers were ahead together, as on one machine, that moment is in the future, and
// all ticks are refused until then. To go on sooner store the present one, by hand, in
// path/done: "swept up to 2026-11-26T03:00:00Z".
//
// The record of a run is the node path/done/NAME, and its lock that of a mutex at
// path/NAME, where NAME is the escaped key or the tick, with a suffix: "a%2Fb.key",
// "2026-11-26T03:00:00Z.tick". To have a run done again delete its record; to have it
// never done make one, by hand and while nobody runs it. The nodes path and path/done
// stay; those of the locks are containers, which the server removes some time after
// their last use (from ZooKeeper 3.5 on). Apache Curator has no such recipe.
package once
