package lease

import (
	"context"
	"time"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = time.Duration(1<<63 - 1)

// An Acquirer is what all recipes have in common.
type Acquirer interface {
	// Acquire waits up to timeout for a slot and returns a lease on it.
	//
	// ctx is for the work as well as for the wait: the lease's context derives from it.
	// timeout bounds only the wait. Forever waits until ctx ends; 0 or less does not
	// wait, and acquires only what is free now. If the session ends meanwhile, Acquire
	// waits again in the next one, at the end of the queue.
	//
	// If it fails nothing is held, and a znode that may exist on the server is being
	// removed. The error is one of these:
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
	//
	// timeout includes the time of all requests. To find out who holds the slot, and to
	// leave the queue, Acquire may take a tenth of a second more. With 0 or less it
	// does not wait for a connection, and waits for answers a third of the session
	// timeout at most, and half of it more if a quorum has to vouch for a slot that is
	// free.
	Acquire(ctx context.Context, timeout time.Duration) (*Lease, error)
}
