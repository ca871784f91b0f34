package hold

import (
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// The errors of a lease; package lease documents them for users.
var (
	// ErrLost means that a hold ended before it was released.
	ErrLost = errors.New("lease lost")
	// ErrReleased means that a handle was released before.
	ErrReleased = errors.New("lease released")
)

// Reasons for a loss that do not come from the framework.
var (
	// ErrDeleted means that the znode is gone although the session lives.
	ErrDeleted = errors.New("its znode was deleted by somebody else")
	// ErrMaxHold means that the maximum hold time passed.
	ErrMaxHold = errors.New("its maximum hold time passed")
	// ErrSuspended means that the connection broke and StopOnSuspend is set.
	ErrSuspended = errors.New("the connection broke, and the client is configured to stop then")
	errReplaced  = errors.New("its znode is not the one that was granted")
)

// A LossError says which lease was lost and why. It is an ErrLost.
type LossError struct {
	Path   string        // the znode, with chroot and namespace
	Token  int64         // the fencing token
	Held   time.Duration // how long it was held
	Reason error         // why it was lost
}

// Error describes the loss.
func (e *LossError) Error() string {
	return fmt.Sprintf("%v: %s, token %d, after %v: %v", ErrLost, quote.Path(e.Path), e.Token, e.Held.Round(time.Millisecond), e.Reason)
}

// Is reports whether target is ErrLost.
func (e *LossError) Is(target error) bool { return target == ErrLost }

// Unwrap returns the reason.
func (e *LossError) Unwrap() error { return e.Reason }

// A releasedError says that a hold, or a handle on it, was released. It is an
// ErrReleased.
type releasedError struct{ hold *Hold }

// Error names the znode.
func (e *releasedError) Error() string {
	return fmt.Sprintf("%s: %v", quote.Path(e.hold.Path), ErrReleased)
}

// Is reports whether target is ErrReleased.
func (e *releasedError) Is(target error) bool { return target == ErrReleased }
