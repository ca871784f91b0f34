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
	// ErrTimeout means that the lock did not become free in time. Nothing is held.
	ErrTimeout = errors.New("not acquired in time")
	// ErrLost means that a lease ended before it was released: another client may have
	// acted at the same time. The error wraps the reason; see LossError.
	ErrLost = errors.New("lease lost")
	// ErrReleased means that the lease was released before.
	ErrReleased = errors.New("lease released")
	// ErrSequenceExhausted means that a path has seen 2^31 acquisitions without ever
	// being idle for a minute; see its text for what to do. The server then gives all
	// new nodes the same number, or negative ones, so that their order is unknown.
	ErrSequenceExhausted = errors.New("the sequence numbers of the path are used up; " +
		"delete the path while no client uses it, and they start again")
	// ErrForeignData means that a path stores data that is not the recipe's. It is not
	// overwritten, and Acquire fails. The text has the beginning of the data.
	ErrForeignData = errors.New("the path stores data that is not the recipe's")
	// ErrOtherRecipe means that a path is in use by another recipe: the two would not
	// exclude each other. The text names one of its znodes. A mutex and a read-write
	// lock may share a path.
	ErrOtherRecipe = errors.New("the path is in use by another recipe")
	// ErrLockDelay means that the lock stays closed for a while, although there is room
	// for another holder, because a lease on it was lost. The text says for how long,
	// and names that holder. It comes in a TimeoutError.
	ErrLockDelay = errors.New("closed for a lock-delay")
	// ErrLockDelayMismatch means that the path stores another lock-delay than the one
	// given. The text says both.
	ErrLockDelayMismatch = errors.New("the lock-delay differs from the one stored at the path")
	// ErrNotContender means that RequestRevocation was given a znode that is no
	// contender's.
	ErrNotContender = errors.New("not the znode of a contender: " +
		"give the Path of one that Contenders lists or of a Lease, not that of the recipe")
	// ErrCuratorBehind means that RequestRevocation was given the znode of a candidate
	// in an election, directly behind which another client has one, such as a
	// LeaderLatch of Apache Curator: once the znode has been written to, that would
	// never notice that it is deleted, and never lead. Nothing is written then. The
	// process of the candidate can still be ended, which releases.
	ErrCuratorBehind = errors.New("the candidate behind it is of another client, and would never lead then")
	// ErrDeleted is the reason of a loss: another client deleted the lease's znode. An
	// expired session can have this reason too: its znodes are reported before its end.
	ErrDeleted = errors.New("its znode was deleted by another client")
	// ErrMemberLost is the reason of a loss: another lock of the same multi-lock was
	// lost.
	ErrMemberLost = errors.New("another lock of the same multi-lock was lost")
	// ErrMaxHold is the reason of a loss: the maximum hold time passed.
	ErrMaxHold = errors.New("its maximum hold time passed")
	// ErrSuspended is the reason of a loss: the connection broke, and
	// framework.Config.StopOnSuspend is set.
	ErrSuspended = errors.New("the connection broke, and the client is configured to stop then")
)

// A LossError says which lease was lost and why. It is an ErrLost. context.Cause
// returns it for the context of a lost lease.
type LossError struct {
	// Path is the lease's znode, with chroot and namespace.
	Path string
	// Token is its fencing token.
	Token Token
	// Session is the id of the session that owned the znode, 0 in a fake.
	Session int64
	// Held is how long it was held.
	Held time.Duration
	// Reason is why it was lost, for errors.Is: ErrDeleted, ErrMaxHold, ErrSuspended,
	// ErrMemberLost, framework.ErrClosed, framework.ErrNoAuth (no permission to read
	// the znode), or framework.ErrSessionLost, which is ErrSessionExpired,
	// ErrTrustExpired or ErrSessionReplaced, also of package framework.
	Reason error
}

// Error describes the loss.
func (e *LossError) Error() string {
	session := ""
	if e.Session != 0 {
		session = fmt.Sprintf(", session 0x%x", uint64(e.Session))
	}
	return fmt.Sprintf("%v: %s, token %d%s, after %v: %v", ErrLost, quote.Path(e.Path), e.Token, session, e.Held.Round(time.Millisecond), e.Reason)
}

// Is reports whether target is ErrLost.
func (e *LossError) Is(target error) bool { return target == ErrLost }

// Unwrap returns the reason.
func (e *LossError) Unwrap() error { return e.Reason }

// A TimeoutError says what Acquire waited for when its time had passed. It is an
// ErrTimeout.
type TimeoutError struct {
	// Path is the path of the recipe, with chroot and namespace.
	Path string
	// Waited is how long Acquire waited; 0 if the timeout was 0 or less.
	Waited time.Duration
	// Ahead is how many contenders were ahead when the queue was last listed, -1 if it
	// never was because no server was reached. At a semaphore each permit that is held
	// counts; with a single queue each lease.
	Ahead int
	// Holder is what the head of the queue says about itself, or, if Err is an
	// ErrLockDelay, what the holder did that has ended without a release. It is zero if
	// that is not known, such as after a timeout of 0 or for clients that say nothing.
	Holder Holder
	// Node is the name of the znode of the head, "" if not known.
	Node string
	// Err is the last failure during the wait, nil if there was none: which servers
	// could not be reached, if that was so at the end (framework.ErrNotConnected), or
	// why an earlier queue position ended, such as a lost session. Or it is an
	// ErrLockDelay.
	Err error
	// Cause is nil if the timeout has passed. If it was the deadline of the context
	// given to Acquire, it is the cause of that: context.DeadlineExceeded, or what
	// context.WithDeadlineCause was given.
	Cause error
}

// Error describes the wait, and who holds, in one line. What other clients have written
// is escaped, and cut if it is too long.
func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("%s: %v", quote.Path(e.Path), ErrTimeout)
	if e.Waited > 0 {
		s += fmt.Sprintf(": waited %v", e.Waited.Round(time.Millisecond))
	}
	if e.Ahead > 0 {
		s += fmt.Sprintf(", %d ahead", e.Ahead)
	}
	closed := errors.Is(e.Err, ErrLockDelay)
	switch held := e.Holder.String(); {
	case closed:
		s += fmt.Sprintf(", %v", e.Err)
	case held != "":
		s += ", held by " + held
	case e.Node != "":
		s += ", held by node " + quote.Brief(e.Node)
	}
	if e.Cause != nil && !errors.Is(e.Cause, context.DeadlineExceeded) { // that says no more than the first words
		s += fmt.Sprintf(": %v", e.Cause)
	}
	if e.Err != nil && !closed {
		s += fmt.Sprintf("; last failure: %v", e.Err)
	}
	return s
}

// Is reports whether target is ErrTimeout.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Timeout returns true, as a net.Error's does for what ran out of time.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap returns those of Err and Cause that are not nil.
func (e *TimeoutError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Err, e.Cause}, func(err error) bool { return err == nil })
}
