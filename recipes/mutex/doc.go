// Package mutex is a distributed mutual exclusion lock: of all processes that acquire
// the mutex of one path, at most one holds a valid lease on it. It does not stop a
// process that was paused from acting on after its lease was lost; see package lease
// for what to do about that. It is fair: leases are granted in the order in which the
// acquirers joined the queue. It is reentrant through the context: see package lease.
// So goroutines that share the context of one lease are one owner and do not exclude
// each other; with lease.Fork they do.
//
// The znodes are those of Apache Curator's InterProcessMutex, so Go and Java services
// exclude each other on the same path. Children of the path that are no contenders'
// nodes are ignored (Curator counts them, and then waits for them). A path that an
// election or a semaphore of ours is using is refused ([lease.ErrOtherRecipe]); a
// read-write lock may share it, and counts.
//
// # Cost
//
// A free mutex costs one write, with a read in its wake on the same round trip, to
// acquire, and one write to release. One that is held costs a waiter two more reads,
// one round trip, and then nothing until its turn comes: each waiter watches the node
// directly ahead of its own, and if that was the only one ahead its end alone is the
// grant.
package mutex
