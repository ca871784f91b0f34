// Package semaphore is a distributed counting semaphore: of all processes that use the
// semaphore of one path, no more hold permits at once than its size says. It does not
// stop a process that was paused from acting on after its lease was lost; see package
// lease for what to do about that. It is fair: permits are granted in the order in
// which the acquirers joined the line, and who asks for many is not overtaken by those
// who ask for few.
//
// It is not reentrant. Each Acquire takes permits of its own, also with the context of
// a lease on the same semaphore, so one inside the other can wait for itself. Take what
// is needed at once, with [Semaphore.Weight].
//
// # The size
//
// The size is stored at the path, so that all agree: the first to acquire writes the
// number it was made with, and whoever was made with another gets [ErrSizeMismatch] at
// its first contact. From then on each follows what is stored. [Semaphore.Resize]
// changes it, and all who wait see that at once. Nobody loses a permit when it shrinks;
// nobody gets one before enough have been returned.
//
// The path is created as a container, which the server removes some time, by default a
// minute, after its last use. The size goes with it, and is then that of the next user
// again. Create the path as a persistent node to keep it. Data that is no size is
// somebody else's: it is left alone, and there are no permits ([ErrForeignData]) until
// the path is emptied. A path that stores nothing but an address, which Curator gives
// to a node that is made without data, has no size yet.
//
// # Neighbours
//
// The znodes are those of Apache Curator's InterProcessSemaphoreV2, and the size is
// stored as its SharedCount does, so Go and Java services share the permits of one
// path:
//
//	new InterProcessSemaphoreV2(client, path, new SharedCount(client, path, permits))
//
// Java's has a number of its own if it is not given a SharedCount, which nothing
// compares with the stored one. Children of path/leases that are no permits, as their
// names tell, are ignored; Curator counts them. [WithSingleQueue] chooses a layout of
// our own, which costs less and which Curator does not know. A path which another of
// our recipes is using, or a semaphore of the other layout, is refused
// ([lease.ErrOtherRecipe]).
//
// # Cost
//
// A free permit costs two writes to acquire, in three round trips, and one write to
// return. Only the first in line watches the permits, so a return wakes one waiter.
// With the single queue it is one write to acquire and one to return, and a return
// wakes at most as many waiters as there are permits.
package semaphore
