// Package rwlock lets many processes read at the same time, or one write: it is a
// distributed read-write lock. Of all processes that use the lock of one path, either
// any number hold valid read leases on it, or one holds a valid write lease. It is
// fair: a reader waits for the nearest writer ahead of it in the queue, a writer for
// all contenders ahead, so neither readers nor writers starve.
//
//	prices, err := rwlock.New(client, "/locks/prices")
//	if err != nil {
//		return err
//	}
//	return lease.Do(ctx, prices.Read(), 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
//		return load(ctx) // a writer uses prices.Write()
//	})
//
// The lock does not stop a process that was paused from acting after its lease was
// lost; see package lease for what to do about that. It is reentrant through the
// context of a lease: see package lease.
//
// # Downgrade and upgrade
//
// A writer that acquires the read lock, with the context of its write lease, gets it at
// once. When it then releases the write lease, no other writer is admitted before the
// read lease is released too, so it can go on reading what it wrote. The context of
// such a read lease does not end when the write lease is released; it does when that is
// lost. Its token is that of the write lease.
//
// A reader that acquires the write lock, with the context of its read lease, gets
// [ErrUpgrade] at once: two readers that did so would wait for each other for ever.
//
// # Interoperability
//
// The znodes are those of Apache Curator's InterProcessReadWriteLock, so Go and Java
// services exclude each other on the same path. A mutex of this module on the same path
// counts as a writer. A path that an election or a semaphore of this module is using is
// refused ([lease.ErrOtherRecipe]).
//
// # Cost
//
// A free lock costs one write to acquire, with a read on the same round trip, and one
// write to release. A downgrade costs as much as a free lock. The end of a writer wakes
// the readers that it admits, and none behind the next writer; if it was the only one
// ahead they need no further request. A writer that it wakes lists the queue once, to
// see whether the writer kept a read lock (downgrade). The end of a reader wakes a
// writer only if that is next in the queue.
package rwlock
