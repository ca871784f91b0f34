package lease

import (
	"context"
	"time"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = time.Duration(1<<63 - 1)

// An Acquirer is what all recipes have in common.
type Acquirer interface {
	// Acquire waits for the lock and returns a lease on it. ctx is for the work as well
	// as for the wait: the lease's context derives from it. If the session ends during
	// the wait, Acquire waits in the next one, at the end of the queue.
	//
	// Timeouts. They bound the wait, with all its requests:
	//
	//   - A positive one: wait that long at most. Acquire may take a tenth of a second
	//     more, to find out who holds the lock and to leave the queue.
	//   - Forever: wait until ctx ends.
	//   - 0 or less: acquire only what is free now, without waiting for a connection.
	//     Answers are awaited for a third of the session timeout at most. If a quorum
	//     has to vouch for a lock that is free, that takes up to half the timeout more.
	//
	// Errors. On failure nothing is held, and a znode that may exist on the server is
	// being removed:
	//
	//   - ErrTimeout, a TimeoutError: the timeout or the deadline of ctx has passed.
	//     For the deadline it has the cause of ctx. If no server was reached at the
	//     end, it is a framework.ErrNotConnected as well, which says why, and a
	//     framework.ErrAuthFailed if that is why.
	//   - The cause of ctx, if ctx was cancelled.
	//   - ErrLost: ctx belongs to a lease that was lost.
	//   - ErrOtherRecipe, ErrForeignData: the path is used for something else.
	//   - framework.ErrClosed: the client is closed, or is being closed.
	//   - Others of the recipe and of the framework.
	Acquire(ctx context.Context, timeout time.Duration) (*Lease, error)
}
