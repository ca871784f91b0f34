// Package semaphore limits how much work runs at once across processes: it is a
// distributed counting semaphore. The valid leases on one path never take more permits
// than the semaphore's size. It is fair: permits are granted in the order in which the
// acquirers joined the queue, and a request for many permits is not overtaken by
// requests for few.
//
//	workers, err := semaphore.New(client, "/limits/workers", 10) // permits
//	if err != nil {
//		return err
//	}
//	return lease.Do(ctx, workers, 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
//		return work(ctx) // with one permit
//	})
//
// A semaphore does not stop a process that was paused from acting after its lease was
// lost; see package lease for what to do about that.
//
// It is not reentrant. Each Acquire takes further permits, also with the context of a
// lease on the same semaphore, so a nested Acquire can wait for itself. Acquire all
// that is needed at once, with [Semaphore.Weight].
//
// # The size
//
// The size is stored at the path, so that all clients agree. The first to acquire
// stores the number that New was given, and a client with another number gets
// [ErrSizeMismatch] when it first reads the size, unless it was made with
// [WithStoredSize]. From then on each client follows the stored size.
// [Semaphore.Resize] changes it, and all who wait see that at once. When it shrinks,
// holders keep their permits, and no permit is granted until enough have been returned.
//
// The path is created as a container, which the server removes some time, by default a
// minute, after its last use. The size goes with it, and the next client stores its
// own. Create the path as a persistent node to keep the size. Data that is not a size
// belongs to another program: it is not overwritten, and no permits are granted
// ([lease.ErrForeignData]) until the path is emptied.
//
// # Interoperability
//
// The znodes are those of Apache Curator's InterProcessSemaphoreV2, and the size is
// stored as its SharedCount does, so Go and Java services share the permits of one
// path:
//
//	new InterProcessSemaphoreV2(client, path, new SharedCount(client, path, permits))
//
// Without a SharedCount, Java has a number of its own, which is not compared with the
// stored size. A path that stores nothing but an IP address, which Curator writes into
// a node created without data, has no size yet. Children of path/leases that do not
// have the name of a permit are ignored; Curator counts them. [WithSingleQueue] chooses
// another layout, which costs less and which Curator does not know. A path that another
// recipe, or a semaphore of the other layout, is using is refused
// ([lease.ErrOtherRecipe]).
//
// # Cost
//
// A free permit costs two writes to acquire, in three round trips, and one write to
// return. Only the head of the queue watches the permits, so a return wakes one waiter.
// Requests of one client that wait one behind the other, while there are permits, get
// them at one round trip each.
// With the single queue it is one write to acquire and one to return, and a return
// wakes at most as many waiters as there are permits.
package semaphore
