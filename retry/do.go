package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Do runs op until it succeeds, waiting between attempts as the policy says. The op
// gets ctx and should return soon after it ends; Do never leaves an attempt running
// behind.
//
// Do returns nil after an attempt whose error is nil or judged [Done]. It returns an
// [Unknown] or [Fatal] error at once and as it is; see the package documentation for
// why an unknown outcome is not repeated. Errors judged [Again] lead to another
// attempt, until
//
//   - ctx ends, before an attempt or during a wait: the error then matches, by
//     errors.Is, both context.Cause(ctx) and the last attempt's error;
//   - the policy allows no other: the attempt's error is then returned as it is.
//
// In both cases no attempt has taken effect. An invalid policy or a nil classifier is
// an error before the first attempt. Any number of goroutines may call Do at once.
func Do(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error) error {
	return run(ctx, p, classify, op, false)
}

// DoIdempotent is [Do] for an op that may take effect more than once without harm: it
// goes on after an [Unknown] outcome as after [Again].
//
// If it fails after an unknown outcome, whichever error it fails with also matches that
// of the latest unknown attempt, because the operation may have taken effect although
// the last attempt certainly did not.
func DoIdempotent(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error) error {
	return run(ctx, p, classify, op, true)
}

// Sleep waits for d, or until ctx ends, and returns nil or context.Cause(ctx)
// accordingly. An ended context wins over a wait that is over too, or of zero.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
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
	schedule := p.Start()
	var last, unknown error // of the latest attempt, and of the latest with an unknown outcome
	for attempts := 0; ; attempts++ {
		if ctx.Err() != nil {
			return stopped(context.Cause(ctx), attempts, last)
		}
		if last = op(ctx); last == nil {
			return nil
		}
		verdict := classify(last)
		switch {
		case verdict == Unknown:
			unknown = last
		case unknown != nil: // which a certain failure of the latest one does not undo
			last = fmt.Errorf("%w (an earlier attempt may have taken effect: %w)", last, unknown)
		}
		switch {
		case verdict == Done:
			return nil
		case verdict == Again, verdict == Unknown && idempotent:
		default:
			return last
		}
		delay, more := schedule.Next()
		// Where both have ended, the context is the reason to give: it is what the
		// caller did, and all that a loop around this one will look at.
		if !more && ctx.Err() == nil {
			return last
		}
		_ = Sleep(ctx, delay) // the next round says that ctx has ended
	}
}

// stopped is the error of a loop that its context has ended.
func stopped(cause error, attempts int, last error) error {
	switch attempts {
	case 0:
		return fmt.Errorf("stopped before the first attempt: %w", cause)
	case 1:
		return fmt.Errorf("stopped after 1 attempt: %w; last error: %w", cause, last)
	}
	return fmt.Errorf("stopped after %d attempts: %w; last error: %w", attempts, cause, last)
}
