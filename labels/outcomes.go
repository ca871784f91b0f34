package labels

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The values of [Acquire].
const (
	Granted   = "granted"
	Reentered = "re-entered" // the context owned a hold already
	Timeout   = "timeout"    // a lease.ErrTimeout; also the deadline of the caller's context
	Canceled  = "canceled"   // the caller's context ended otherwise
	Closed    = "closed"     // the client was closed
	Failed    = "failed"     // anything else, such as a path that is in use by another recipe
)

// Acquire returns how an acquire has ended, for framework.Observer.AcquireEnded, with
// the context that it is given: one of the six values above.
func Acquire(ctx context.Context, e framework.AcquireEnd) string {
	switch {
	case e.Err == nil && e.Reentered:
		return Reentered
	case e.Err == nil:
		return Granted
	case errors.Is(e.Err, framework.ErrClosed):
		return Closed
	case errors.Is(e.Err, lease.ErrTimeout):
		return Timeout
	case ctx != nil && ctx.Err() != nil:
		return Canceled
	}
	return Failed
}

// The values of [Hold] for what was not lost.
const (
	Released      = "released"
	ReleaseFailed = "release-failed" // the znode could not be removed, or it is not known
)

// reasons are those of lease.LossError, the ones that wrap others first.
var reasons = []struct {
	err   error
	label string
}{
	{lease.ErrMemberLost, "member-lost"},
	{lease.ErrDeleted, "deleted"},
	{lease.ErrMaxHold, "max-hold"},
	{lease.ErrSuspended, "suspended"},
	{framework.ErrSessionExpired, "session-expired"},
	{framework.ErrTrustExpired, "trust-expired"},
	{framework.ErrSessionReplaced, "session-replaced"},
	{framework.ErrSessionLost, "session-lost"},
	{framework.ErrNoAuth, "no-auth"},
	{framework.ErrClosed, Closed},
	{lease.ErrLost, Other},
}

// Hold returns how a hold has ended, for HoldEnd.Err of framework.Observer: [Released],
// [ReleaseFailed], or one of [Losses].
func Hold(err error) string {
	if err == nil {
		return Released
	}
	if errors.Is(err, lease.ErrLost) {
		for _, reason := range reasons {
			if errors.Is(err, reason.err) {
				return reason.label
			}
		}
	}
	return ReleaseFailed
}

// Losses returns the values of [Hold] for a hold that was lost: deleted, max-hold,
// suspended, member-lost, closed, no-auth, session-expired, trust-expired,
// session-replaced, session-lost and other. See lease.LossError.Reason.
func Losses() []string {
	all := make([]string, len(reasons))
	for i, reason := range reasons {
		all[i] = reason.label
	}
	return all
}
