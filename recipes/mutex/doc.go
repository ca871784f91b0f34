// Package mutex lets one process at a time do some work: it is a distributed mutual
// exclusion lock. Of all processes that acquire the mutex of one path, at most one
// holds a valid lease on it. It is fair: leases are granted in the order in which the
// acquirers joined the queue.
//
//	orders, err := mutex.New(client, "/locks/orders")
//	if err != nil {
//		return err
//	}
//	return lease.Do(ctx, orders, 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
//		return deduct(ctx, held.Token()) // until ctx ends
//	})
//
// Acquire returns a [lease.Lease]. There is no Unlock: release the lease, as [lease.Do]
// does. A mutex does not stop a process that was paused from acting after its lease was
// lost; see package lease for what to do about that.
//
// It is reentrant through the context of a lease: see package lease. So goroutines that
// share that context are one owner and do not exclude each other; with lease.Fork they
// do.
//
// # Interoperability
//
// The znodes are those of Apache Curator's InterProcessMutex, so Go and Java services
// exclude each other on the same path. Children of the path that are not nodes of
// contenders are ignored (Curator counts them, and then waits for them). A path that an
// election or a semaphore of this module is using is refused ([lease.ErrOtherRecipe]);
// a read-write lock may share it, and its contenders count.
//
// # Cost
//
// A free mutex costs one write to acquire, with a read on the same round trip, and one
// write to release. Waiting costs two or three more reads, in one round trip, and then
// nothing until the grant: each waiter watches the node directly ahead of its own, and
// if no other is ahead, the end of that node is the grant.
package mutex
