// Package inspect shows who holds and who waits at the path of a recipe, for
// dashboards, alerts and commands such as "zkrecipes ls". It changes nothing.
//
//	found, err := inspect.Path(ctx, client, "/locks/orders")
//	if err != nil {
//		return err
//	}
//	for _, queue := range found.Queues {
//		for i, c := range queue.Contenders {
//			fmt.Println(i+1, c.State, c.Kind, c.Holder)
//		}
//	}
//
// It finds out which recipe uses the path, and includes clients that use Apache
// Curator. For a recipe that is known, its method Contenders costs less. It also finds
// the holders that have ended without a release, after which a lock-delay keeps a lock
// closed that nobody holds: [Survey.LockDelays].
//
// # How exact it is
//
// Each queue is shown as it was at one moment during the call, as seen by a server that
// has caught up with the leader, without contenders that have left since. Two queues
// are shown at two moments, and so are the queue and the numbers of a semaphore: a
// contender that gets a permit during the call may be in it twice, and one that moves
// from one stripe to another may be at both. All of it may be out of date when Path
// returns: never use it to decide what needs a lock.
//
// # What it costs
//
// Five small requests one after the other, ten more for a semaphore, and one read for
// each contender, 16 at a time. For a path of stripes or a job one more, and three for
// each stripe or run that has a node, 16 of these at a time. For a lock-delay two more,
// and two for each holder that has ended without a release. It creates nothing and sets
// no watches. The client needs the permission to read.
package inspect
