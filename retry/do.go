package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Do runs op until it succeeds, waiting between attempts as the policy says.
// The op gets ctx and should return soon after it ends; Do never leaves an
// attempt running behind.
//
// Do returns nil after an attempt whose error is nil or judged [Done]. It
// returns an [Unknown] or [Fatal] error at once and as it is; see the package
// documentation for why an unknown outcome is not repeated. Errors judged
// [Again] lead to another attempt, until
//
//   - ctx ends, before an attempt or during a wait: the error then matches, by
//     errors.Is, both context.Cause(ctx) and the last attempt's error;
//   - the policy ends: the error then wraps the last attempt's and gives the
//     number of attempts.
//
// In both cases no attempt has taken effect. An invalid policy or a nil
// classifier is an error before the first attempt. Any number of goroutines may
// call Do at once.
func Do(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error) error {
	return run(ctx, p, classify, op, false)
}

// DoIdempotent is [Do] for an op that may take effect more than once without
// harm: it goes on after an [Unknown] outcome as after [Again].
//
// If it fails after an unknown outcome, whichever error it fails with also
// matches that of the latest unknown attempt, because the operation may have
// taken effect although the last attempt certainly did not.
func DoIdempotent(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error) error {
	return run(ctx, p, classify, op, true)
}

// Sleep waits for d, or until ctx ends, and returns nil or context.Cause(ctx)
// accordingly. An ended context wins over a wait that is over too, or of zero.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

func run(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error, idempotent bool) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if classify == nil {
		return errors.New("retry: classifier is nil")
	}
	var past history
	schedule := p.Start()
	for {
		if ctx.Err() != nil {
			return past.stopped(context.Cause(ctx))
		}
		err := op(ctx)
		if err == nil {
			return nil
		}
		verdict := classify(err)
		past.add(err, verdict)

		switch {
		case verdict == Done:
			return nil
		case usedUp(err):
			return past.outcome()
		case verdict == Again, verdict == Unknown && idempotent:
		default:
			return past.outcome()
		}

		delay, more := schedule.Next()
		// Where both have ended, the context is the reason to give: it is what
		// the caller did, and all that a loop around this one will look at.
		if !more && ctx.Err() == nil {
			return &spentError{attempts: past.attempts, err: past.outcome()}
		}
		if err := Sleep(ctx, delay); err != nil {
			return past.stopped(err)
		}
	}
}

// history is what a loop remembers of its failed attempts.
type history struct {
	attempts int
	last     error   // error of the latest attempt
	verdict  Verdict // its verdict
	unknown  error   // latest earlier error with an unknown outcome
}

func (h *history) add(err error, v Verdict) {
	if h.verdict == Unknown {
		h.unknown = h.last
	}
	h.attempts++
	h.last, h.verdict = err, v
}

// outcome is the truth about all attempts: a certain failure of the last one
// does not undo an earlier one that may have taken effect.
func (h *history) outcome() error {
	if h.unknown == nil || h.verdict == Unknown {
		return h.last
	}
	return fmt.Errorf("%w (an earlier attempt may have taken effect: %w)", h.last, h.unknown)
}

func (h *history) stopped(cause error) error {
	if h.attempts == 0 {
		return fmt.Errorf("stopped before the first attempt: %w", cause)
	}
	return fmt.Errorf("stopped after %s: %w; last error: %w", count(h.attempts), cause, h.outcome())
}

// spentError is the error of a loop that may make no further attempt. It has a
// type of its own for one reason: the loop around it must recognize it.
type spentError struct {
	attempts int
	err      error
}

func (e *spentError) Error() string {
	return fmt.Sprintf("gave up after %s: %v", count(e.attempts), e.err)
}

func (e *spentError) Unwrap() error { return e.err }

// usedUp reports whether err comes from an inner loop that has already
// repeated the operation as often as its policy allows. Starting it over would
// multiply the attempts, and with them the load on a server in trouble.
func usedUp(err error) bool {
	var inner *spentError
	return errors.As(err, &inner) && inner.attempts > 1
}

func count(attempts int) string {
	if attempts == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", attempts)
}
