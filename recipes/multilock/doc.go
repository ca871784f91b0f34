// Package multilock is a lock on several locks at once: all of them, or none. The locks
// are the mutexes, the sides of read-write locks, the permits and the terms of this
// library, of one client or of several:
//
//	both, err := multilock.New([]lease.Acquirer{cart, stock})
//	...
//	held, err := both.Acquire(ctx, 5*time.Second)
//
// The lease ends when the first of its locks ends. [lease.Lease.Err], Context,
// TrustedUntil, Confirm and RevocationRequested are about all of them, and so is Check.
// There is no common fencing token: a store that a lock protects compares the token of
// that lock, and [lease.Lease.Tokens] has them all.
//
// # Order
//
// Clients that take the same locks one after the other, in different orders, wait for
// each other for ever. So the locks are acquired in the order of their paths, with
// chroot and namespace, in whatever order they were given to [New], or, if all are
// free, in one transaction: those who do the same never block each other. The list of a
// Java InterProcessMultiLock should have that order, too.
//
// Others may have another order: Java programs, code that acquires one lock while it
// holds another, clients for which the same znodes have other names. So while a
// multi-lock holds a lock it waits for the next one only for a limited time. Then it
// releases what it holds, pauses, and begins again with the lock that it did not get:
// for that it waits without a limit, because it holds none. See [WithWaitLimit]. So a
// foreign order delays both sides, but blocks and starves neither. The price is
// fairness: who begins again waits at the end of the queues. And a multi-lock that does
// so has another order itself, until it has all locks.
//
// # Re-entry
//
// Acquire with the context of a lease that is on some of the locks re-enters these, as
// far as they can be re-entered, and waits for the others only. The context of a
// multi-lock's lease re-enters each of its locks, alone or in another multi-lock.
// Permits of a semaphore are acquired anew each time. A read lease to which a writer
// has downgraded with that context goes on when the multi-lock's lease is released, but
// its context ends.
//
// # When one of the locks is lost
//
// Then the lease is lost, with the error of that lock, and its context ends. The others
// are still excluded for others until the lease is released, or for a sixth of the
// session timeout, whichever is shorter: so work has the same moment to stop as after
// any loss.
//
// The idea of a lock on several locks is that of Curator's InterProcessMultiLock. The
// order that excludes deadlock is that of Havender, "Avoiding deadlock in multitasking
// systems", IBM Systems Journal 7(2), 1968.
package multilock
