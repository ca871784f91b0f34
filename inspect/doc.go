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
// Curator. It also finds the holders that have ended without a release, after which a
// lock-delay keeps a lock closed that nobody holds: [Survey.LockDelays]. Where a queue
// may be long, use [Heads].
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
// One sync, one listing of the path, and one read for each contender, 16 at a time. One
// read more if the path stores something; two listings for a semaphore of two queues,
// one for each stripe or run that has a node, and one read for the records of a job.
// For each lock-delay one or two more, and two for each holder that has ended without a
// release. It creates nothing and sets no watches. The client needs the permission to
// read.
//
// [Heads] reads the first contenders only. Of a lock with 10,000 waiters it reads one
// holder, and as many of them as it was told, or none. The listing has all names, which
// is what a long queue costs then: about 600 KB for these.
//
// # All locks in use, and what is left behind
//
// [Locks] finds all locks, semaphores and elections in use below a path, with who is at
// the head of each, how many hold and how many wait. [FindLitter] finds what is left
// behind there: empty parents, nodes that no session owns, records of holders that have
// ended, and paths whose sequence numbers end.
//
// Both list each node below the path once, except for those of contenders and of
// records of runs, 16 at a time. Each listing is of another moment. Then Locks reads,
// of each queue, the head and the first that waits; one more for a lock-delay that has
// recorded its grant; and the size of each semaphore and of each path of stripes.
// FindLitter reads the first 16 nodes of each queue, and each empty node. So the cost
// of a queue does not grow with its length, but for its listing. They create nothing
// and set no watches.
//
// # Clients that wait for each other
//
// [Cycles] finds deadlocks, such as that of a client that holds one lock and waits for
// another one, whose holder waits for the first. It looks at all locks, semaphores and
// elections below a path; a cycle that leads outside is not found.
//
// Each node says which leases own the context of its Acquire. Those are released only
// after it has returned, so a cycle of these is a deadlock. (If another goroutine
// releases one of them, that ends the wait, and with it the deadlock.) Clients that use
// Apache Curator say nothing, nor do elections, nor do programs that acquire without
// the context of the lease that they hold. Of these it is only known that a session, or
// a process, holds one lock and waits for another one. A process has many threads. So
// what is found of them may be a deadlock, or the threads of busy processes, whose
// waits end; two surveys some time apart show which. Only possible, too, is a cycle of
// those who say that they may leave the queue: a multi-lock that waits for a limited
// time while it holds some of its locks, and an AcquireAny of package striped, which
// may get another stripe.
//
// Some deadlocks are not found. A node that says what its context owns is taken to say
// all: what that program holds besides does not count. Of very many leases, more than
// 4096 bytes of paths, the outermost are left out. Of what a busy process holds, a node
// that says nothing counts with the 64 locks that were granted last. A candidate of an
// election says nothing, so what it waits within is not known if another process holds
// it, as it is for a command below another one. And the forks of an owner that wait for
// their turn at a lock have no nodes.
//
// A path cannot be read at one moment together with another one. So there are two
// looks: the first one at all queues, the second one at those where one may be stuck.
// Only what was seen in both counts. Who waits in both looks, with the same node, has
// waited all the time between them, because nobody can come between it and the head;
// who holds in both has held all that time; and if the size of a semaphore has been
// stored between them, it counts as not known. So all of a cycle was true at the moment
// when the first look had ended. And since a deadlock stays, none that was there before
// the first look began is missed.
//
// All of that is as the servers know it. What a client has released counts until its
// delete arrives. If its connection is broken, that may take until its session ends. It
// is not known how long a client will wait: a timeout, a maximum hold time or a
// revocation may end a deadlock soon. Who joined the single queue of a semaphore before
// its size was last stored may hold permits, although not so many are left: that it
// waits is never certain.
//
// It costs one listing for each node below the path, except for those of contenders and
// of records of runs, 16 at a time. Then it reads the queues where one waits, each with
// a sync, a listing, or two for a semaphore of two queues, and one read for each
// contender; and if one may be stuck there, once more, with a read before and after it
// for each semaphore.
package inspect
