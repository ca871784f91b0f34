package lease

import (
	"context"

	"github.com/zkrecipes/zkrecipes/internal/owner"
)

// Fork returns a context for one of several goroutines under one lease. Each Acquire
// with it is a new owner, so forks exclude each other: see the example.
//
// On a path that the owner of ctx holds, a fork enters that owner's hold: one fork at a
// time, in the order of their calls, in memory. Nothing is sent. The lease has the path
// and token of the hold. Acquire's timeout and context bound the wait. On other paths
// it waits in the queue like any new owner.
//
// Forks do not exclude the owner above them, and must not, as it may be waiting for
// them. Its hold lasts until they have released. If it is lost, their leases are lost
// as well, and forks that wait get an ErrLost. Forks may be forked again.
//
// Of a read-write lock, forks of a reader share the lock like readers, and get
// rwlock.ErrUpgrade if they want to write; forks of a writer enter one at a time, also
// to read. A semaphore is not re-entered, so forks wait for permits of their own.
//
// A context that owns nothing is returned as it is. Any number of goroutines may call
// Fork, and use its context.
func Fork(ctx context.Context) context.Context { return owner.Fork(ctx) }

// WithoutOwner returns a context that owns nothing: Acquire with it does not re-enter.
// Use it for work that is started under a lease but must be excluded by it, and never
// wait for such work under that lease.
func WithoutOwner(ctx context.Context) context.Context { return owner.Without(ctx) }
