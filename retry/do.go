package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Do runs op until it succeeds, waiting between attempts as the policy says. op gets
// ctx and should return soon after ctx ends. Do never returns while an attempt is
// running.
//
// Do returns nil after an attempt whose error is nil or classified as [Done]. It
// returns an [Unknown] or [Fatal] error at once and unchanged; the package
// documentation says why an unknown outcome is not repeated. After an error classified
// as [Again] it makes another attempt, until
//
//   - ctx ends, before an attempt or during a wait: the returned error then matches, by
//     errors.Is, both context.Cause(ctx) and the last attempt's error;
//   - the policy allows no further attempt: Do then returns the last attempt's error
//     unchanged.
//
// In both cases no attempt has taken effect. An invalid policy, a nil classifier or a
// nil op is an error before the first attempt. Do is safe for concurrent use.
func Do(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error) error {
	return run(ctx, p, classify, op, false)
}

// DoIdempotent is [Do] for an op that may take effect more than once without harm: an
// [Unknown] outcome is repeated like [Again].
//
// If DoIdempotent fails after an unknown outcome, its error also matches the error of
// the latest unknown attempt: the operation may have taken effect, although the last
// attempt certainly has not.
func DoIdempotent(ctx context.Context, p Policy, classify Classifier, op func(ctx context.Context) error) error {
	return run(ctx, p, classify, op, true)
}

// Sleep waits for d, or until ctx ends. It returns nil, or context.Cause(ctx) if ctx
// has ended, also if the wait is over at the same time or d is zero.
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
	if op == nil {
		return errors.New("retry: operation is nil")
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
		case unknown != nil: // a certain failure of a later attempt does not undo that
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
		// If both have ended, the context is the reason: the caller ended it, and a
		// loop around this one checks nothing else.
		if !more && ctx.Err() == nil {
			return last
		}
		_ = Sleep(ctx, delay) // the next round reports that ctx has ended
	}
}

// stopped is the error of a loop whose context has ended.
func stopped(cause error, attempts int, last error) error {
	switch attempts {
	case 0:
		return fmt.Errorf("stopped before the first attempt: %w", cause)
	case 1:
		return fmt.Errorf("stopped after 1 attempt: %w; last error: %w", cause, last)
	}
	return fmt.Errorf("stopped after %d attempts: %w; last error: %w", attempts, cause, last)
}
