// Package inspect tells who holds and who waits at the path of a recipe, for
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
// It needs not be told which recipe uses the path, and sees clients that use Apache
// Curator as well. A program that knows its recipe has Contenders there.
//
// # How far it can be trusted
//
// Each queue is shown as it was at one moment during the call, as seen by a server that
// has caught up with the leader, less those who left since. The moments of two queues
// differ, and so do those of a semaphore's queue and numbers. It may be out of date
// when it is returned: nothing that needs a lock may be decided by it.
//
// # What it costs
//
// Five small requests one after the other, ten more for a semaphore, and one read for
// each contender, 16 at a time. It creates no path, no session of its own, sets no
// watches and needs the permission to read.
package inspect
