package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
)

// Outcome is how a request ended.
type Outcome int

// The three ways in which a request can end.
const (
	// Done means that the request took effect and its result is known.
	Done Outcome = iota
	// Failed means that the request certainly had no effect and never will.
	Failed
	// Unknown means that the request may have taken effect, or may still.
	Unknown
)

// String returns the outcome in one word.
func (o Outcome) String() string { return nameOf(o, "outcome", "done", "failed", "unknown") }

// OutcomeOf returns Done for nil, the outcome recorded in an error of this package, and
// Unknown for any other error, of which nothing is known.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	if errors.Is(err, ErrUnknownOutcome) { // also if only an earlier attempt ended so
		return Unknown
	}
	var op *OpError
	if errors.As(err, &op) {
		return op.Outcome
	}
	if isAny(err, neverSent...) {
		return Failed
	}
	return Unknown
}

func isAny(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(target error) bool { return errors.Is(err, target) })
}

// neverSent lists the errors found before anything was sent.
var neverSent = []error{
	ErrInvalidPath, ErrInvalidArgument, ErrTooLarge, ErrTooManyEphemerals, ErrNotConnected,
	ErrClosed, ErrSessionLost, context.Canceled, context.DeadlineExceeded,
}

// answers maps the server's answers, as errors of the client library, to the errors of
// this package. Each means that the server refused the request, so it certainly had no
// effect.
//
// For a code that the library does not know it makes an error that only its text
// distinguishes. Where the code matters the guard substitutes one that the library
// knows and a server never sends (see substituteCodes); the last two entries are those.
// The size of an answer that was too large is taken from a text (see
// guard.RefusedSize).
var answers = map[error]error{
	zk.ErrNoNode:                  ErrNoNode,
	zk.ErrNodeExists:              ErrNodeExists,
	zk.ErrNotEmpty:                ErrNotEmpty,
	zk.ErrBadVersion:              ErrBadVersion,
	zk.ErrNoChildrenForEphemerals: ErrNoChildrenForEphemerals,
	zk.ErrNoAuth:                  ErrNoAuth,
	zk.ErrInvalidACL:              ErrInvalidACL,
	zk.ErrAuthFailed:              ErrAuthFailed,
	zk.ErrBadArguments:            ErrInvalidArgument,
	zk.ErrInvalidFlags:            ErrInvalidArgument,
	zk.ErrInvalidPath:             ErrInvalidPath,
	zk.ErrShortBuffer:             ErrTooLarge,
	zk.ErrSessionExpired:          ErrSessionExpired,
	zk.ErrSessionMoved:            errMoved,
	zk.ErrNoServer:                ErrNotConnected,
	zk.ErrNothing:                 ErrUnsupported,
	zk.ErrReconfigDisabled:        ErrThrottled,
}

// classify turns an error of the client library into one of ours and says whether the
// request may have taken effect. All but a plain answer of the server is unknown: a
// closed connection does not show whether the request was sent, a write that failed may
// have been partial, and a reply that cannot be decoded belongs to a request that was
// carried out.
func classify(err error) (Outcome, error) {
	if err == nil {
		return Done, nil
	}
	for theirs, ours := range answers {
		if errors.Is(err, theirs) {
			return Failed, ours
		}
	}
	if errors.Is(err, ErrTooManyEphemerals) {
		return Failed, err
	}
	if errors.Is(err, zk.ErrAPIError) {
		return Unknown, errMalformedAnswer
	}
	if size, ok := guard.RefusedSize(err); ok {
		return Unknown, fmt.Errorf("%w: %d bytes", ErrReplyTooLarge, size)
	}
	return Unknown, err
}

// verdict decides whether an operation is tried again: only if it certainly had no
// effect and may succeed next time. That is so if the request was never sent (a view
// that is not pinned sends it in the next session), was refused by an overloaded
// server, or was sent to a server that no longer owns the session.
func (c *Client) verdict(err error) retry.Verdict {
	switch {
	case err == nil:
		return retry.Done
	case c.endedBy(err):
		return retry.Fatal
	case errors.Is(err, ErrUnknownOutcome):
		return retry.Unknown
	case isAny(err, ErrSessionLost, errMoved, ErrThrottled, ErrNotConnected):
		return retry.Again
	}
	return retry.Fatal
}

// endedBy reports whether what has failed with an error cannot be repeated: the client
// was closed, or the session is over that the view is pinned to.
func (c *Client) endedBy(err error) bool {
	return errors.Is(err, ErrClosed) || errors.Is(err, ErrSessionLost) && c.pinned != nil
}
