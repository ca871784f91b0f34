package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/retry"
)

var (
	errGone    = errors.New("already gone")
	errRefused = errors.New("connection refused")
	errBroken  = errors.New("connection broke after send")
	errDenied  = errors.New("access denied")
	errOther   = errors.New("an error without a verdict")
)

func classify(err error) retry.Verdict {
	switch {
	case errors.Is(err, errGone):
		return retry.Done
	case errors.Is(err, errBroken):
		return retry.Unknown
	case errors.Is(err, errRefused):
		return retry.Again
	case errors.Is(err, errDenied):
		return retry.Fatal
	default:
		return 0
	}
}

// script returns an operation that fails with each error in turn and goes on with the
// last one, and a counter of its attempts.
func script(errs ...error) (op func(context.Context) error, attempts *int) {
	attempts = new(int)
	return func(context.Context) error {
		err := errs[min(*attempts, len(errs)-1)]
		*attempts++
		return err
	}, attempts
}

func TestDoEndsOnEachVerdict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		errs     []error
		want     error // nil: success
		attempts int
	}{
		"success at once":            {[]error{nil}, nil, 1},
		"success after two refusals": {[]error{errRefused, errRefused, nil}, nil, 3},
		"an error that means done":   {[]error{errRefused, errGone}, nil, 2},
		"unknown is never repeated":  {[]error{errRefused, errBroken, nil}, errBroken, 2},
		"fatal":                      {[]error{errRefused, errDenied, nil}, errDenied, 2},
		"no verdict counts as fatal": {[]error{errOther, nil}, errOther, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				op, attempts := script(tc.errs...)
				err := retry.Do(t.Context(), retry.Policy{}, classify, op)
				assert.Equal(t, tc.want, err, "returned as it is")
				assert.Equal(t, tc.attempts, *attempts)
			})
		})
	}
}

func TestDoWaitsAsThePolicySays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		op, _ := script(errRefused, errRefused, nil)
		require.NoError(t, retry.Do(t.Context(), retry.Constant(7*time.Second), classify, op))
		assert.Equal(t, 14*time.Second, time.Since(began))
	})
}

func TestNoneMakesOneAttempt(t *testing.T) {
	t.Parallel()
	op, attempts := script(errRefused, nil)
	require.Equal(t, errRefused, retry.Do(t.Context(), retry.None(), classify, op), "returned as it is")
	op, more := script(errBroken, nil)
	require.Equal(t, errBroken, retry.DoIdempotent(t.Context(), retry.None(), classify, op))
	require.Equal(t, 2, *attempts+*more)
}

func TestIdempotentRepeatsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op, attempts := script(errBroken, errRefused, errBroken, nil)
		require.NoError(t, retry.DoIdempotent(t.Context(), retry.Policy{}, classify, op))
		assert.Equal(t, 4, *attempts)
	})
}

func TestIdempotentNeverForgetsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op, _ := script(errBroken, errRefused, errDenied)
		err := retry.DoIdempotent(t.Context(), retry.Policy{}, classify, op)
		require.ErrorIs(t, err, errDenied, "failed for good")
		require.ErrorIs(t, err, errBroken)
		require.EqualError(t, err, "access denied (an earlier attempt may have taken effect: connection broke after send)")

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		op, _ = script(errBroken, errRefused)
		err = retry.DoIdempotent(ctx, retry.Constant(time.Second), classify, op)
		require.ErrorIs(t, err, context.DeadlineExceeded, "context ended")
		require.ErrorIs(t, err, errRefused)
		require.ErrorIs(t, err, errBroken)
	})
}

func TestContextEndKeepsItsCauseAndTheLastError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errShutdown := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		time.AfterFunc(90*time.Minute, func() { cancel(errShutdown) })

		op, attempts := script(errRefused)
		err := retry.Do(ctx, retry.Constant(time.Hour), classify, op)
		assert.Equal(t, 90*time.Minute, time.Since(began), "the wait must end with the context, at once")
		require.ErrorIs(t, err, errShutdown)
		require.ErrorIs(t, err, errRefused)
		require.EqualError(t, err, "stopped after 2 attempts: shutting down; last error: connection refused")
		assert.Equal(t, 2, *attempts)
	})
}

func TestEndedContextAllowsNoAttempt(t *testing.T) {
	t.Parallel()
	errShutdown := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errShutdown)

	op, attempts := script(nil)
	err := retry.Do(ctx, retry.Policy{}, classify, op)
	require.ErrorIs(t, err, errShutdown)
	require.EqualError(t, err, "stopped before the first attempt: shutting down")
	assert.Zero(t, *attempts)
}

func TestContextThatEndsDuringAnAttempt(t *testing.T) {
	t.Parallel()
	errShutdown := errors.New("shutting down")
	for name, tc := range map[string]struct {
		policy retry.Policy
		err    error
		cause  bool // whether the context's cause belongs to the result
	}{
		"success stays success":              {retry.Policy{}, nil, false},
		"fatal needs no other reason":        {retry.Policy{}, errDenied, false},
		"no further attempt":                 {retry.Constant(1), errRefused, true},
		"the policy ends in the same moment": {retry.None(), errRefused, true},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		attempts := 0
		err := retry.Do(ctx, tc.policy, classify, func(context.Context) error {
			attempts++
			cancel(errShutdown)
			return tc.err
		})
		require.ErrorIs(t, err, tc.err, name)
		assert.Equal(t, tc.cause, errors.Is(err, errShutdown), name)
		assert.Equal(t, 1, attempts, name)
	}
}

func TestNestedLoopsEndTogetherWithTheirContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		began := time.Now()
		op, attempts := script(errRefused)
		err := retry.Do(ctx, retry.Constant(time.Second), classify, func(ctx context.Context) error {
			return retry.Do(ctx, retry.Constant(time.Second), classify, op)
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errRefused)
		assert.Equal(t, 4, *attempts)
		assert.Equal(t, 3500*time.Millisecond, time.Since(began))
	})
}

func TestDoRefusesBadArgumentsBeforeTheFirstAttempt(t *testing.T) {
	t.Parallel()
	op, attempts := script(nil)
	require.ErrorContains(t, retry.Do(t.Context(), retry.Constant(0), classify, op), "must be positive")
	require.ErrorContains(t, retry.Do(t.Context(), retry.Policy{}, nil, op), "classifier is nil")
	require.ErrorContains(t, retry.Do(t.Context(), retry.Policy{}, classify, nil), "operation is nil")
	assert.Zero(t, *attempts)
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, retry.Sleep(t.Context(), time.Hour))
		assert.Equal(t, time.Hour, time.Since(began))
		require.NoError(t, retry.Sleep(t.Context(), 0))
		require.NoError(t, retry.Sleep(t.Context(), -time.Hour))
		assert.Equal(t, time.Hour, time.Since(began))

		errShutdown := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errShutdown) })
		assert.Equal(t, errShutdown, retry.Sleep(ctx, time.Hour))
		assert.Equal(t, time.Hour+time.Minute, time.Since(began))
		assert.Equal(t, errShutdown, retry.Sleep(ctx, time.Hour), "ended before the wait")
		assert.Equal(t, errShutdown, retry.Sleep(ctx, 0), "an ended context wins over an empty wait")
	})
}
