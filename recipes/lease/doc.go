// Package lease defines what all recipes have in common. Their Acquire returns a
// [Lease]: the right to a lock (a mutex, a read or write lock, permits, a term) until
// it is released or lost. [Do] acquires, runs a function, and releases:
//
//	err := lease.Do(ctx, orders, 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
//		return deduct(ctx, held.Token())
//	})
//
// In single steps:
//
//	held, err := orders.Acquire(ctx, 5*time.Second) // a mutex, or another Acquirer
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, held.Release()) }()
//	return deduct(held.Context(), held.Token())
//
// If deduct returns a loss (held.Err() or context.Cause), the text of that error has it
// twice; that of Do has it once. Package leasetest has fakes for unit tests.
//
// # What is guaranteed
//
// Of all leases of a mutex, at most one is valid at any moment, as measured on one
// clock. A lease is valid while [Lease.Err] returns nil.
//
// That does not guarantee that no other client acts. A process can be paused for so
// long that its lease is lost and granted to another client before the process notices,
// and then act. Two things help against that: the fencing token ([Lease.Token]), for
// stores that can compare numbers, and [Lease.Check], for writes to ZooKeeper itself.
//
// # The life of a lease
//
//	Acquire ----> valid ----> Release --------------------------> released
//	                |
//	                +-- session expired, or not provable any more --> lost
//	                +-- znode deleted by another client ------------> lost
//	                +-- maximum hold time passed -------------------> lost
//	                +-- client closed ------------------------------> lost
//
// When a lease is no longer valid its context ends, with a cause that is [ErrReleased]
// or [ErrLost]. Work under a lease should use that context.
//
// A broken connection alone does not end a lease. It is lost when the session can no
// longer be proved to live, about half a session timeout after the ensemble stopped
// answering or committing ([Lease.TrustedUntil]). A server that has no quorum any more
// still answers, but that proves nothing. The ensemble cannot grant the lock to another
// client before another sixth of the timeout has passed: time for the work to stop.
//
// A client with leases makes a small transaction every quarter of the session timeout,
// unless it commits something anyway. With it a quorum vouches for the session, and
// checks up to 32 of their znodes, in turn. The client needs the permission to read
// that znode. Without that permission the lease is lost.
//
// # Minimum hold time and lock-delay
//
// Two options of the recipes are for work outside of ZooKeeper that cannot compare
// tokens. With WithMinHold a slot stays taken for that time at least, however soon it
// is released: a job that takes no time is not done again by a process whose clock is
// behind.
//
// With WithLockDelay a slot stays closed for that time after an unclean end, as in
// Google's Chubby: when a lease was lost. What the holder had sent to other systems has
// time to arrive, also if Release is called then. A lease that was valid until its
// Release has ended cleanly, and so has one that Close of the client has ended, if it
// is released within Config.CloseGrace.
//
//   - The delay is stored at the path, in a container called lock-delay. Who gives
//     another one gets [ErrLockDelayMismatch]; who gives none obeys the one that is
//     stored when it joins the queue. To change it, stop all that give one, and delete
//     that node, if the server has not removed it.
//   - Each holder is recorded below that node before it gets the lease, and a clean end
//     removes the record. So also a newcomer that finds nobody in the queue waits. The
//     record of a lease that was lost stays until another client gets the lock.
//   - Who waits counts the delay by its own clock, from when it has seen that the
//     holder has ended. So a timeout has to be longer than that, or Acquire fails with
//     a [TimeoutError] that is an [ErrLockDelay]. To those who come later than twice
//     the delay, by the clocks of the servers, it does not matter any more: so a lock
//     whose users never wait as long is not closed for ever.
//   - An Acquire costs a listing and a transaction more, and Release a second delete,
//     in one transaction with the first, for which ReleaseAsync waits as well. Nothing
//     is handed over in memory. A multi-lock takes such a lock alone, and waits for one
//     delay after the other.
//   - It does not replace tokens: a process can be paused for longer than any delay.
//     And Apache Curator knows nothing of it: do not share such a path with Java.
//
// # Ownership is in the context
//
// Acquire with a context that descends from [Lease.Context] re-enters: it returns a
// further lease on the same lock at once. The lock is free when the last of these
// leases is released. Acquire with any other context is a new owner, even from the same
// goroutine and on the same recipe value.
//
// So goroutines that share a mutex exclude each other, each with its own context. And a
// function that locks what its caller has locked does not deadlock, as long as it gets
// the caller's context, as it must anyway for cancellation.
//
// Goroutines that share a lease's context are one owner: they re-enter together, and do
// not exclude each other. Where they have to, give each a context from [Fork]. For work
// that is started under a lease, but must wait for its release, there is
// [WithoutOwner].
package lease
