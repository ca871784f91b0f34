package leasetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// rows hold for all subjects.
var rows = map[string]func(*testing.T, subject){
	"a lease is released once":         releasedOnce,
	"leases exclude each other":        excludes,
	"waiters are admitted in order":    inOrder,
	"a wait times out":                 timesOut,
	"a wait ends with its context":     contextEndsTheWait,
	"an ended context acquires none":   endedContext,
	"the caller's context ends":        contextOfTheCaller,
	"a lease is lost":                  isLost,
	"after a loss the next is granted": lostIsFree,
	"revocation is requested":          revocationRequested,
	"confirm needs its context":        confirmNeedsItsContext,
	"Do releases":                      doReleases,
	"a context without owner waits":    withoutOwner,
}

func releasedOnce(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	require.NoError(t, held.Err())
	require.NoError(t, held.Confirm(t.Context()))
	require.NoError(t, held.Context().Err())
	require.False(t, conformance.Closed(held.Done()))
	require.True(t, held.TrustedUntil().After(time.Now()))
	require.Positive(t, held.Token())
	require.Regexp(t, `^/.*/.*\d{10}$`, held.Path())
	results := make(chan error, 10)
	for range cap(results) {
		go func() { results <- held.Release() }()
	}
	done := 0
	for range cap(results) {
		if err := <-results; err == nil {
			done++
		} else {
			require.ErrorIs(t, err, lease.ErrReleased)
		}
	}
	require.Equal(t, 1, done)
	require.True(t, conformance.Closed(held.Done()))
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrReleased)
	for _, err := range []error{held.Err(), held.Confirm(t.Context()), held.Release()} {
		require.ErrorIs(t, err, lease.ErrReleased)
		require.NotErrorIs(t, err, lease.ErrLost)
	}
	_, err := s.a.Acquire(held.Context(), time.Minute)
	require.ErrorIs(t, err, lease.ErrReleased, "use after release")
}

func excludes(t *testing.T, s subject) {
	held := s.fill()
	for _, timeout := range []time.Duration{0, -time.Second} {
		at := s.Start(s.a, timeout)
		require.Zero(t, at.Took)
		var timeout *lease.TimeoutError
		require.ErrorAs(t, at.Failed(), &timeout)
		require.ErrorIs(t, timeout, lease.ErrTimeout)
		require.True(t, timeout.Timeout())
		require.Zero(t, timeout.Waited)
		require.NoError(t, timeout.Cause)
		require.NoError(t, timeout.Err)
	}
	first := held[0]
	release(t, first)
	next := s.Acquire(s.a)
	for _, l := range held {
		require.Greater(t, next.Token(), l.Token())
	}
	require.NotEqual(t, first.Path(), next.Path())
	release(t, append(held[1:], next)...)
}

func inOrder(t *testing.T, s subject) {
	held := s.fill()
	var waiting []*conformance.Attempt
	for range 3 {
		waiting = append(waiting, s.Start(s.a, lease.Forever))
	}
	called := s.Start(s.a, lease.Forever)
	waiting = append(waiting, s.Start(s.a, lease.Forever))
	reason := errors.New("not now")
	called.Cancel(reason)
	require.ErrorIs(t, called.Failed(), reason)
	for i, next := range waiting {
		require.True(t, next.Waiting())
		release(t, held[0])
		held = append(held[1:], next.Granted())
		require.NoError(t, next.Granted().Err(), i)
		s.After(100 * time.Millisecond)
	}
	release(t, held...)
}

func timesOut(t *testing.T, s subject) {
	held := s.fill()
	ahead := s.Start(s.a, lease.Forever)
	at := s.Start(s.a, 1500*time.Millisecond)
	var timeout *lease.TimeoutError
	require.ErrorAs(t, at.Failed(), &timeout)
	require.InDelta(t, 1500*time.Millisecond, at.Took, float64(100*time.Millisecond))
	require.InDelta(t, 1500*time.Millisecond, timeout.Waited, float64(100*time.Millisecond))
	require.Equal(t, s.permits+1, timeout.Ahead)
	require.NotZero(t, timeout.Holder)
	require.NotEmpty(t, timeout.Node)
	require.NoError(t, timeout.Cause)
	release(t, held[0])
	release(t, append(held[1:], ahead.Granted())...)
	release(t, s.Start(s.a, 0).Granted())
}

func contextEndsTheWait(t *testing.T, s subject) {
	held := s.fill()
	reason := errors.New("the shop closes")
	at := s.Start(s.a, time.Hour)
	at.Cancel(reason)
	require.ErrorIs(t, at.Failed(), reason)
	require.NotErrorIs(t, at.Err, lease.ErrTimeout)
	for cause, want := range map[error]error{nil: context.DeadlineExceeded, reason: reason} {
		ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(time.Second), cause)
		for range 2 { // the second time it has passed before
			at = s.StartWith(ctx, s.a, lease.Forever)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
			require.ErrorIs(t, at.Err, want)
			var timeout *lease.TimeoutError
			require.ErrorAs(t, at.Err, &timeout)
			require.Equal(t, want, timeout.Cause)
		}
		cancel()
	}
	release(t, held...)
}

func endedContext(t *testing.T, s subject) {
	reason := errors.New("called off")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	for _, timeout := range []time.Duration{0, time.Minute, lease.Forever} {
		at := s.StartWith(ctx, s.a, timeout)
		require.ErrorIs(t, at.Failed(), reason)
		require.NotErrorIs(t, at.Err, lease.ErrTimeout)
	}
	release(t, s.fill()...)
}

func contextOfTheCaller(t *testing.T, s subject) {
	type key struct{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
	held := s.StartWith(ctx, s.a, time.Minute).Granted()
	require.Equal(t, "value", held.Context().Value(key{}))
	reason := errors.New("called off")
	cancel(reason)
	require.ErrorIs(t, context.Cause(held.Context()), reason)
	s.After(time.Minute)
	require.NoError(t, held.Err(), "the end of the caller's context does not release")
	require.False(t, conformance.Closed(held.Done()))
	release(t, held)
	require.True(t, conformance.Closed(held.Done()))
	require.ErrorIs(t, context.Cause(held.Context()), reason)
}

func isLost(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	s.After(time.Second)
	s.lose(held)
	require.True(t, conformance.Closed(held.Done()))
	for _, err := range []error{held.Err(), context.Cause(held.Context()), held.Confirm(t.Context()), held.Release()} {
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, lease.ErrDeleted)
		var loss *lease.LossError
		require.ErrorAs(t, err, &loss)
		require.Equal(t, lease.LossError{Path: held.Path(), Token: held.Token(), Session: loss.Session, Held: loss.Held, Reason: lease.ErrDeleted}, *loss)
		require.InDelta(t, time.Second, loss.Held, float64(100*time.Millisecond))
	}
	require.False(t, held.TrustedUntil().Before(time.Now().Add(-time.Second)))
	for _, err := range []error{held.Err(), held.Release(), held.Confirm(t.Context())} {
		require.ErrorIs(t, err, lease.ErrReleased, "a second release")
	}
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrLost)
}

func lostIsFree(t *testing.T, s subject) {
	held := s.fill()
	waiting := s.Start(s.a, lease.Forever)
	s.lose(held[0])
	next := waiting.Granted()
	require.Greater(t, next.Token(), held[0].Token())
	require.NoError(t, next.Err())
	require.ErrorIs(t, held[0].Release(), lease.ErrLost)
	require.NoError(t, next.Err(), "the next lease is not affected")
	release(t, next)
	for _, l := range held[1:] {
		_ = l.Release() // the fake loses all leases
	}
}

func revocationRequested(t *testing.T, s subject) {
	held := s.fill()
	waiting := s.Start(s.a, lease.Forever)
	for range 2 {
		s.request(held[0])
		require.True(t, conformance.Closed(held[0].RevocationRequested()))
	}
	s.After(time.Minute)
	require.NoError(t, held[0].Err(), "it need not obey")
	require.True(t, waiting.Waiting())
	release(t, held[0])
	require.False(t, conformance.Closed(waiting.Granted().RevocationRequested()))
	release(t, append(held[1:], waiting.Granted())...)
}

func confirmNeedsItsContext(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	reason := errors.New("called off")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	err := held.Confirm(ctx)
	require.ErrorIs(t, err, reason)
	require.NotErrorIs(t, err, lease.ErrLost)
	require.NoError(t, held.Err())
	release(t, held)
}

func doReleases(t *testing.T, s subject) {
	failure := errors.New("out of stock")
	for _, want := range []error{nil, failure} {
		var all []*lease.Lease
		require.ErrorIs(t, lease.Do(t.Context(), s.a, time.Minute, func(ctx context.Context, held *lease.Lease) error {
			require.NoError(t, ctx.Err())
			all = append(all, held)
			return want
		}), want)
		require.ErrorIs(t, all[0].Err(), lease.ErrReleased)
	}
	require.ErrorIs(t, lease.Do(t.Context(), s.a, time.Minute, func(ctx context.Context, held *lease.Lease) error {
		s.After(time.Second)
		s.lose(held)
		<-ctx.Done()
		return context.Cause(ctx)
	}), lease.ErrLost)
}

func withoutOwner(t *testing.T, s subject) {
	held := s.fill()
	at := s.StartWith(lease.WithoutOwner(held[0].Context()), s.a, 0)
	require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	release(t, held...)
}
