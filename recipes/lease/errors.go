package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// The errors of all recipes, for errors.Is.
var (
	// ErrTimeout means that the place did not become free in time. Nothing is held.
	ErrTimeout = errors.New("not acquired in time")
	// ErrLost means that a lease ended before it was released; what was done under it
	// may not have been alone. The reason is wrapped in it.
	ErrLost = errors.New("lease lost")
	// ErrReleased means that the lease was released before.
	ErrReleased = errors.New("lease released")
	// ErrSequenceExhausted means that a path has seen 2^31 acquisitions without ever
	// being idle for a minute; see its text for what to do. The server cannot number
	// another node then: it gives all new ones the same number, or negative ones, and
	// their order is unknown.
	ErrSequenceExhausted = errors.New("the sequence numbers of the path are used up; " +
		"delete the path when nobody uses it, and they begin anew")
	// ErrForeignData means that a path stores data that is not the recipe's, so that it
	// is not overwritten, and nothing is acquired by it. The text has the beginning.
	ErrForeignData = errors.New("the path stores data that is not the recipe's")
	// ErrOtherRecipe means that a path is in use by another recipe, whose places would
	// be given beside those of this one. The text names one of its znodes. Mutex and
	// read-write lock are one recipe in that.
	ErrOtherRecipe = errors.New("the path is in use by another recipe")
	// ErrNotContender means that RequestRevocation was given a znode that is no
	// contender's.
	ErrNotContender = errors.New("not the znode of a contender: " +
		"give the Path of one that Contenders lists or of a Lease, not that of the recipe")
	// ErrDeleted is the reason of a loss: somebody else deleted the lease's znode. A
	// server that expires a session tells of its znodes first; if the end of the
	// session is not known yet then, this is the reason.
	ErrDeleted = errors.New("its znode was deleted by somebody else")
	// ErrMaxHold is the reason of a loss: the maximum hold time passed.
	ErrMaxHold = errors.New("its maximum hold time passed")
	// ErrSuspended is the reason of a loss: the connection broke, and
	// framework.Config.StopOnSuspend is set.
	ErrSuspended = errors.New("the connection broke, and the client is configured to stop then")
)

// Other reasons of a loss are those for which a session ends: see
// framework.ErrSessionLost and framework.ErrClosed.

// A LossError says which lease was lost and why. It is an ErrLost, and what
// context.Cause returns for the context of a lost lease.
type LossError struct {
	// Path is the lease's znode, with chroot and namespace.
	Path string
	// Token is its fencing token.
	Token Token
	// Held is how long it was held.
	Held time.Duration
	// Reason is why it was lost.
	Reason error
}

// Error describes the loss.
func (e *LossError) Error() string {
	return fmt.Sprintf("%v: %s, token %d, after %v: %v", ErrLost, quote.Path(e.Path), e.Token, e.Held.Round(time.Millisecond), e.Reason)
}

// Is reports whether target is ErrLost.
func (e *LossError) Is(target error) bool { return target == ErrLost }

// Unwrap returns the reason.
func (e *LossError) Unwrap() error { return e.Reason }

// A TimeoutError says what an Acquire waited for in vain. It is an ErrTimeout.
type TimeoutError struct {
	// Path is the path of the recipe, with chroot and namespace.
	Path string
	// Waited is how long it was waited for; 0 if the timeout was 0 or less.
	Waited time.Duration
	// Ahead is the number of contenders ahead at the last look, -1 if there was no look
	// because no server was reached.
	Ahead int
	// Holder is what the first in line says about itself. It is zero if that is not
	// known, such as after a timeout of 0 or for clients that say nothing.
	Holder Holder
	// Node is the name of the first in line's znode, "" if not known.
	Node string
	// Err is the last failure that was met while waiting, nil if there was none: which
	// servers could not be reached, if that was so at the end
	// (framework.ErrNotConnected), or what cost a place in line before, such as a lost
	// session.
	Err error
	// Cause is the cause of the context given to Acquire if it was its deadline that
	// ended the wait: context.DeadlineExceeded, or what context.WithDeadlineCause was
	// given. It is nil if it was the timeout.
	Cause error
}

// Error describes the wait, and who was in the way, in one line. What others have
// written is escaped, and cut if it is too long.
func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("%s: %v", quote.Path(e.Path), ErrTimeout)
	if e.Waited > 0 {
		s += fmt.Sprintf(": waited %v", e.Waited.Round(time.Millisecond))
	}
	if e.Ahead > 0 {
		s += fmt.Sprintf(", %d ahead", e.Ahead)
	}
	switch held := e.Holder.String(); {
	case held != "":
		s += ", held by " + held
	case e.Node != "":
		s += ", held by node " + quote.Brief(e.Node)
	}
	if e.Cause != nil && !errors.Is(e.Cause, context.DeadlineExceeded) { // that says no more than the first words
		s += fmt.Sprintf(": %v", e.Cause)
	}
	if e.Err != nil {
		s += fmt.Sprintf("; last failure: %v", e.Err)
	}
	return s
}

// Is reports whether target is ErrTimeout.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Timeout returns true, as a net.Error's does for what ran out of time.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap returns Err and Cause, as far as there are.
func (e *TimeoutError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Err, e.Cause}, func(err error) bool { return err == nil })
}
