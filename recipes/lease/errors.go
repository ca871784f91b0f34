package lease

import (
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
)

// The errors of all recipes, for errors.Is.
var (
	// ErrTimeout means that the place did not become free in time. Nothing is held.
	ErrTimeout = queue.ErrTimeout
	// ErrLost means that a lease ended before it was released; what was done under
	// it may not have been alone. The reason is wrapped in it.
	ErrLost = hold.ErrLost
	// ErrReleased means that the lease was released before.
	ErrReleased = hold.ErrReleased
	// ErrSequenceExhausted means that a path has seen 2^31 acquisitions without
	// ever being idle for a minute; see its text for what to do.
	ErrSequenceExhausted = queue.ErrSequenceExhausted
	// ErrForeignData means that a path stores data that is not the recipe's, so that it
	// is not overwritten, and nothing is acquired by it. The text has the beginning.
	ErrForeignData = queue.ErrForeignData
	// ErrOtherRecipe means that a path is in use by another recipe, whose places would
	// be given beside those of this one. The text names one of its znodes. Mutex and
	// read-write lock are one recipe in that.
	ErrOtherRecipe = queue.ErrOtherRecipe
	// ErrNotContender means that Revoke was given a znode that contends for nothing.
	ErrNotContender = errors.New("not the znode of a contender: " +
		"give the Path of one that Contenders lists or of a Lease, not that of the recipe")
	// ErrDeleted is the reason of a loss: somebody else deleted the lease's znode. A
	// server that expires a session tells of its znodes first; if the end of the
	// session is not known yet then, this is the reason.
	ErrDeleted = hold.ErrDeleted
	// ErrMaxHold is the reason of a loss: the maximum hold time passed.
	ErrMaxHold = hold.ErrMaxHold
	// ErrSuspended is the reason of a loss: the connection broke, and
	// framework.Config.StopOnSuspend is set.
	ErrSuspended = hold.ErrSuspended
)

// Other reasons of a loss are those for which a session ends: see
// framework.ErrSessionLost and framework.ErrClosed.

// A LossError says which lease was lost and why. It is an ErrLost, and what
// context.Cause returns for the context of a lost lease. Its fields are Path, the
// lease's znode with chroot and namespace; Token; Held, how long it was held; and
// Reason, which it wraps.
type LossError = hold.LossError

// A TimeoutError says what an Acquire waited for in vain. It is an ErrTimeout.
type TimeoutError struct {
	// Path is the path of the recipe, with chroot and namespace.
	Path string
	// Waited is how long it was waited for; 0 if the timeout was 0 or less.
	Waited time.Duration
	// Ahead is the number of contenders ahead at the last look, -1 if there was
	// no look because no server was reached.
	Ahead int
	// Holder is what the first in line says about itself. It is zero if that is
	// not known, such as after a timeout of 0 or for clients that say nothing.
	Holder Holder
	// Node is the name of the first in line's znode, "" if not known.
	Node string
	// Err is the last failure that was met while waiting, nil if there was none: which
	// servers could not be reached, if that was so at the end (framework.ErrNotConnected),
	// or what cost a place in line before, such as a lost session.
	Err error
	// Cause is the cause of the context given to Acquire if it was its deadline that
	// ended the wait: context.DeadlineExceeded, or what context.WithDeadlineCause was
	// given. It is nil if it was the timeout.
	Cause error
}

// Error describes the wait, and who was in the way, in one line.
func (e *TimeoutError) Error() string {
	t := &queue.TimeoutError{Path: e.Path, Waited: e.Waited, Ahead: e.Ahead, Head: e.Node, Holder: queue.Holder(e.Holder), Err: e.Err, Cause: e.Cause}
	return t.Error()
}

// Is reports whether target is ErrTimeout.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Unwrap returns Err and Cause, as far as there are.
func (e *TimeoutError) Unwrap() []error {
	return (&queue.TimeoutError{Err: e.Err, Cause: e.Cause}).Unwrap()
}

// A Holder is what a contender says about itself in the data of its znode.
type Holder struct {
	// Who is a label; by default the program's name.
	Who string
	// Host is the machine's name.
	Host string
	// PID is the process's id there.
	PID int
	// Since is the time by its own clock at which it began to wait.
	Since time.Time
}

// String returns "who (host, pid 1, since 2026-01-02T03:04:05Z)", or "" for the
// zero Holder. Anybody may have written that: what is not printable is escaped, as Go
// does in a string, and what is too long is cut. The fields are what was written.
func (h Holder) String() string { return queue.Holder(h).String() }

// public translates the errors of the packages below that are not ours already.
func public(err error) error {
	var timeout *queue.TimeoutError
	if errors.As(err, &timeout) {
		return &TimeoutError{
			Path: timeout.Path, Waited: timeout.Waited, Ahead: timeout.Ahead,
			Holder: Holder(timeout.Holder), Node: timeout.Head, Err: timeout.Err, Cause: timeout.Cause,
		}
	}
	return err
}
