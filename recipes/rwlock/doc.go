// Package rwlock is a distributed read-write lock: of all processes that use the lock
// of one path, either any number hold valid read leases on it, or one holds a valid
// write lease. It does not stop a process that was paused from acting on after its
// lease was lost; see package lease for what to do about that. It is fair: a reader
// waits for the nearest writer ahead of it in the queue, a writer for everybody ahead,
// so neither readers nor writers starve. It is reentrant through the context: see
// package lease.
//
// # Downgrade and upgrade
//
// Who holds a write lease and acquires the read lock, with the lease's context, is
// given it at once. When the write lease is then released no writer is let in before
// the read lease is released too, so what was written can be read on undisturbed. The
// context of such a read lease does not end when the write lease is released; it does
// when that is lost. Its token is that of the write lease.
//
// Who holds a read lease and acquires the write lock, with the lease's context, gets
// [ErrUpgrade] at once: two who did so would wait for each other for ever.
//
// # Neighbours
//
// The znodes are those of Apache Curator's InterProcessReadWriteLock, so Go and Java
// services exclude each other on the same path. A mutex of this module on the same path
// counts as a writer. One that an election or a semaphore of ours is using is refused
// ([lease.ErrOtherRecipe]).
//
// # Cost
//
// A free lock costs one write, with a read in its wake on the same round trip, to
// acquire, and one write to release. A downgrade costs what a free lock does. The end
// of a writer wakes the readers that it admits, and none behind the next writer; if it
// was the only one ahead they need no further request. A writer that it wakes looks
// once whether it has become a reader. The end of a reader wakes a writer only if that
// is the next in line.
package rwlock
