// Package lockorder finds locks that are acquired in inconsistent order, in tests and
// development, before a deadlock shows that they are. It is to leases what lockdep is
// to the locks of the Linux kernel:
//
//	order := lockorder.New(nil)
//	client, err := framework.Connect(ctx, framework.Config{
//		Servers: servers, Observers: []framework.Observer{order.Observer()},
//	})
//	...
//	require.Empty(t, order.Cycles()) // at the end of the test
//
// If one part of a program acquires the cart while it holds the stock, and another part
// the stock while it holds the cart, then two clients that do so at the same moment
// wait for each other for ever, or until both time out. A test seldom meets that
// moment. But each part, whenever it runs, shows its own half: so both have to run
// once, at any time, in any goroutines, and nothing has to block.
//
// # What counts
//
// Each Acquire that may wait while its owner holds another lock is a step from the one
// to the other. When steps close a cycle, that is reported ([Cycle]), with the call
// stacks of all its steps. A cycle of a single step is a lock that is wanted by its own
// holder: with a context that does not own it, through another client, or another
// permit of a semaphore, of which two clients can each keep a part for ever. That which
// closes several cycles reports a shortest one.
//
// Held is what the context of the Acquire owns, as lease.Lease.Context says, and also
// what was acquired on the same goroutine and not released. The second finds code that
// passes on the wrong context, and what is wanted with lease.WithoutOwner. It misleads
// where a goroutine acquires on behalf of others and hands over the leases: see
// [WithContextsOnly]. A re-entry, also by a fork on another goroutine, does not count
// there: the lock counts on the goroutine that was granted it, until the first lease on
// it is released.
//
// No step is
//
//   - an Acquire with a timeout of 0 or less, which does not wait;
//   - a re-entry, which does not wait either. Forks of one owner may wait for each
//     other there; their order is not looked at;
//   - what a multi-lock does with its own locks, because it gives up those it has
//     rather than wait for long: so it may meet any foreign order. Not so with
//     multilock.WithWaitLimit(retry.None()). What is held around it, and what is
//     acquired under it, counts like that of other locks.
//
// Who reads counts like who writes. Two readers do not exclude each other, but readers
// wait behind a writer who waits for the readers before: so two readers of two locks,
// in different orders, and a writer at each, wait for each other. For the same reason a
// reader must not acquire its lock again with a context that does not own it.
//
// A lock that is always held around both orders, so that they cannot meet, does not
// prevent the report: others do not know that rule, and lockdep does the same. Nor does
// a timeout: that one of two times out is a fault, too. A stripe counts as itself, and
// who wants any of them with striped.Locks.AcquireAny wants all.
//
// # What it cannot find
//
// It knows the orders of this process, and so those of a fleet that runs the same code:
// not an order that only another program has, nor one that was not executed. The
// command "zkrecipes ls --cycles" finds who waits for whom in a deadlock that exists,
// among all programs. Locks are told apart by their paths: if a program locks two
// accounts in any order, then the same two have to be met in both. So it is with what
// AcquireAny was granted: that another time it may be the stripe of a key which is
// wanted elsewhere is not looked at.
//
// # What it costs
//
// Nothing is sent. An Acquire costs some ten microseconds, if the process holds
// anything, and so does each grant, most of it for the number of the goroutine, which
// [WithContextsOnly] saves. The first time of a step costs a search of all steps: if
// there are tens of thousands, some milliseconds, for which others wait. It remembers
// up to 65536 steps, a few dozen megabytes, and forgets the oldest ones. It has no
// goroutine. That is for tests and development; in production it does no harm, but is
// not made for that.
//
// Lock-order graphs of this kind are the idea of Linux's lockdep, and of the GoodLock
// algorithm (Havelund, "Using runtime analysis to guide model checking of Java
// programs", SPIN 2000).
package lockorder
