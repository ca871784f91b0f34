package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// refusals maps the error codes of servers to the errors of this package. Each means
// that the server refused the request, so it certainly had no effect.
var refusals = map[int32]error{
	-6:   ErrUnsupported,
	-8:   ErrInvalidArgument,
	-101: ErrNoNode,
	-102: ErrNoAuth,
	-103: ErrBadVersion,
	-108: ErrNoChildrenForEphemerals,
	-110: ErrNodeExists,
	-111: ErrNotEmpty,
	-112: ErrSessionExpired,
	-114: ErrInvalidACL,
	-115: ErrAuthFailed,
	-118: errMoved,
	-119: errors.New("server is read-only"),
	-120: errors.New("no ephemeral nodes in a local session"),
	-124: errors.New("server wants sasl authentication"),
	-125: errors.New("quota exceeded"),
	-127: ErrThrottled,
}

// outcomeOf says how a request ended that was sent. All but success and a plain refusal
// is unknown: a closed connection does not show whether the request arrived, and an
// answer that cannot be read belongs to a request that was carried out.
func outcomeOf(a guard.Answer) (Outcome, error) {
	switch refused := refusals[a.Code]; {
	case errors.Is(a.Err, guard.ErrMalformed):
		return Unknown, errMalformedAnswer
	case a.Err != nil:
		return Unknown, a.Err
	case a.Code == 0:
		return Done, nil
	case refused != nil:
		return Failed, refused
	}
	return Unknown, fmt.Errorf("unknown error code %d", a.Code)
}

// verdict decides whether an operation is tried again: only if it certainly had no
// effect and may succeed next time. That is so if the request was never sent (a view
// that is not pinned sends it in the next session), was refused by an overloaded
// server, or was sent to a server that no longer owns the session.
func (c *Client) verdict(err error) retry.Verdict {
	switch {
	case err == nil:
		return retry.Done
	case c.endedBy(err), isRefusedHere(err):
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
