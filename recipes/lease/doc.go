// Package lease is what all recipes hand out: a [Lease] on a place, such as a mutex,
// that lasts until it is released or lost.
//
// A lease is not a guarantee that nobody else acts. A process can be paused for so long
// that its lease is lost and granted to another before it notices, and then act on.
// What this package does guarantee, on one clock: at most one lease of a mutex is valid
// at a time, where valid means that [Lease.Err] returns nil. What it offers for the
// rest are the fencing token ([Lease.Token]), for stores that can compare numbers, and
// [Lease.Check], for writes to ZooKeeper itself.
//
// # The life of a lease
//
//	Acquire ----> valid ----> Release --------------------------> released
//	                |
//	                +-- session expired, or not provable any more --> lost
//	                +-- znode deleted by somebody else -------------> lost
//	                +-- maximum hold time passed -------------------> lost
//	                +-- client closed ------------------------------> lost
//
// At the end of "valid" the lease's context ends, with a cause that is [ErrReleased] or
// [ErrLost]. Work under a lease should use that context:
//
//	held, err := orders.Acquire(ctx, 5*time.Second)
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, held.Release()) }()
//	return deduct(held.Context(), held.Token())
//
// or leave all of it to [Do].
//
// A broken connection alone does not end a lease. It ends when the session can no
// longer be proved to live, about half a session timeout after the ensemble stopped
// answering, or committing ([Lease.TrustedUntil]): a server that has lost its quorum
// answers on, and does not count. The ensemble cannot give the place away before
// another sixth of the timeout has passed, which is time to stop in.
//
// A lease costs a small transaction every quarter of the session timeout, one for up to
// 32 leases of a client, if it commits nothing else: a quorum vouches for it, and looks
// at its znode. That needs the permission to read the znode. Whoever takes that away,
// ends the lease.
//
// # Ownership travels in the context
//
// Acquire with a context that descends from [Lease.Context] re-enters the place at once
// and returns a further Lease on it; the place is free when the last of them is
// released. Acquire with any other context is a new owner, even from the same goroutine
// and on the same recipe value. So goroutines that share a mutex exclude each other,
// and a function that locks what its caller has locked does not deadlock as long as it
// is passed the context, as it must be anyway for cancellation.
//
// Goroutines that share a lease's context are one owner: they enter together, and do
// not exclude each other. Where they have to, each gets a context from [Fork].
// [WithoutOwner] strips a context of what it owns, for work that must wait like a
// stranger.
package lease
