package leasetest_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// mutexRows are those of what is entered again.
func mutexRows() map[string]func(*testing.T, subject) {
	all := maps.Clone(rows)
	maps.Copy(all, map[string]func(*testing.T, subject){
		"a lease is entered again":            reEntered,
		"a lost lease is not entered":         lostIsNotEntered,
		"an ended context enters nothing":     endedContextEntersNothing,
		"all that entered see the revocation": allSeeTheRevocation,
		"forks exclude each other":            forksExclude,
		"a fork waits in vain":                forkInVain,
		"forks keep what is held":             forksKeep,
		"forks are lost":                      forksAreLost,
		"forks may be forked":                 forksOfForks,
		"a fork enters again":                 forkReEnters,
	})
	return all
}

func (s subject) fork(held *lease.Lease, timeout time.Duration) *conformance.Attempt {
	return s.StartWith(lease.Fork(held.Context()), s.a, timeout)
}

func reEntered(t *testing.T, s subject) {
	outer := s.Acquire(s.a)
	middle := s.StartWith(outer.Context(), s.a, 0).Granted()
	deeper, cancel := context.WithTimeout(context.WithoutCancel(middle.Context()), time.Hour)
	defer cancel()
	inner := s.StartWith(deeper, s.a, time.Second).Granted()
	for _, l := range []*lease.Lease{middle, inner} {
		require.Equal(t, outer.Token(), l.Token())
		require.Equal(t, outer.Path(), l.Path())
		require.NoError(t, l.Confirm(t.Context()))
	}
	other := s.Start(s.a, lease.Forever)
	release(t, outer)
	require.ErrorIs(t, outer.Release(), lease.ErrReleased)
	require.NoError(t, inner.Err())
	require.False(t, conformance.Closed(inner.Done()))
	require.ErrorIs(t, context.Cause(middle.Context()), lease.ErrReleased, "it descends from that of the first")
	require.NoError(t, middle.Err())
	release(t, middle)
	s.Settle()
	require.True(t, other.Waiting())
	release(t, inner)
	release(t, other.Granted())
	at := s.Start(s.a, 0)
	require.NotEqual(t, outer.Token(), at.Granted().Token())
	require.ErrorIs(t, s.StartWith(deeper, s.a, 0).Failed(), lease.ErrTimeout, "what it has released it does not own")
	release(t, at.Granted())
}

func lostIsNotEntered(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	inner := s.StartWith(held.Context(), s.a, 0).Granted()
	s.After(time.Second)
	s.lose(held)
	for _, l := range []*lease.Lease{held, inner} {
		require.ErrorIs(t, context.Cause(l.Context()), lease.ErrDeleted)
		require.True(t, conformance.Closed(l.Done()))
	}
	for _, ctx := range []context.Context{held.Context(), inner.Context(), context.WithoutCancel(inner.Context()), lease.Fork(context.WithoutCancel(held.Context()))} {
		require.ErrorIs(t, s.StartWith(ctx, s.a, time.Minute).Failed(), lease.ErrLost)
	}
	for _, l := range []*lease.Lease{held, inner} {
		require.ErrorIs(t, l.Release(), lease.ErrLost)
	}
	require.ErrorIs(t, s.StartWith(context.WithoutCancel(held.Context()), s.a, time.Minute).Failed(), lease.ErrLost, "also after the release")
	release(t, s.Acquire(s.a))
}

func endedContextEntersNothing(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	reason := errors.New("called off")
	for _, owned := range []context.Context{held.Context(), lease.Fork(held.Context())} {
		ctx, cancel := context.WithCancelCause(owned)
		cancel(reason)
		at := s.StartWith(ctx, s.a, time.Minute)
		require.ErrorIs(t, at.Failed(), reason)
		require.NotErrorIs(t, at.Err, lease.ErrTimeout)

		ctx, cancelDeadline := context.WithDeadline(owned, time.Now())
		var timeout *lease.TimeoutError
		require.ErrorAs(t, s.StartWith(ctx, s.a, time.Minute).Failed(), &timeout)
		require.Equal(t, context.DeadlineExceeded, timeout.Cause)
		cancelDeadline()
	}
	release(t, s.fork(held, 0).Granted(), held)
	release(t, s.Start(s.a, 0).Granted())
}

func allSeeTheRevocation(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	s.After(100 * time.Millisecond)
	inner := s.StartWith(held.Context(), s.a, 0).Granted()
	s.request(inner)
	later := s.StartWith(held.Context(), s.a, 0).Granted()
	for _, l := range []*lease.Lease{held, inner, later} {
		require.True(t, conformance.Closed(l.RevocationRequested()))
	}
	release(t, held, inner, later)
	require.False(t, conformance.Closed(s.Acquire(s.a).RevocationRequested()))
}

func forksExclude(t *testing.T, s subject) {
	require.Equal(t, t.Context(), lease.Fork(t.Context()))
	held := s.Acquire(s.a)
	first, second, third := s.fork(held, 0), s.fork(held, time.Hour), s.fork(held, lease.Forever)
	for _, next := range []*conformance.Attempt{second, third} {
		require.True(t, next.Waiting())
		require.Equal(t, held.Token(), first.Granted().Token())
		require.Equal(t, held.Path(), first.Granted().Path())
		release(t, first.Granted())
		s.Settle()
		first = next
	}
	release(t, third.Granted())
	require.NoError(t, held.Err())
	release(t, held)
}

func forkInVain(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	first := s.fork(held, 0).Granted()
	second, third, fourth := s.fork(held, time.Second), s.fork(held, lease.Forever), s.fork(held, lease.Forever)
	var timeout *lease.TimeoutError
	require.ErrorAs(t, s.fork(held, 0).Failed(), &timeout)
	require.Equal(t, 4, timeout.Ahead)
	reason := errors.New("changed its mind")
	third.Cancel(reason)
	require.ErrorIs(t, third.Failed(), reason)
	require.ErrorAs(t, second.Failed(), &timeout)
	require.Equal(t, 1, timeout.Ahead)
	require.Equal(t, time.Second, timeout.Waited)
	require.True(t, fourth.Waiting())
	release(t, first)
	release(t, fourth.Granted())
	release(t, s.fork(held, 0).Granted(), held)
}

func forksKeep(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	kept := lease.Fork(context.WithoutCancel(held.Context()))
	first, second := s.StartWith(kept, s.a, lease.Forever), s.StartWith(kept, s.a, lease.Forever)
	release(t, held)
	for _, at := range []*conformance.Attempt{first, second} {
		require.NoError(t, at.Granted().Err())
		require.ErrorIs(t, s.Start(s.a, 0).Failed(), lease.ErrTimeout)
		release(t, at.Granted())
		s.Settle()
	}
	require.ErrorIs(t, s.fork(held, 0).Failed(), lease.ErrReleased)
	release(t, s.Start(s.a, 0).Granted())
}

func forksAreLost(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	s.After(time.Second)
	kept := lease.Fork(context.WithoutCancel(held.Context()))
	first, second := s.StartWith(kept, s.a, lease.Forever), s.StartWith(kept, s.a, lease.Forever)
	waiting := s.Start(s.a, lease.Forever)
	s.lose(held)
	require.ErrorIs(t, second.Failed(), lease.ErrDeleted)
	next := waiting.Granted()
	require.ErrorIs(t, first.Granted().Release(), lease.ErrLost)
	require.ErrorIs(t, s.StartWith(kept, s.a, time.Minute).Failed(), lease.ErrLost)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	require.NoError(t, next.Err())
	release(t, next)
}

func forksOfForks(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	first := s.fork(held, 0).Granted()
	second := s.fork(held, lease.Forever)
	below := lease.Fork(context.WithoutCancel(first.Context()))
	one, two := s.StartWith(below, s.a, lease.Forever), s.StartWith(below, s.a, lease.Forever)
	require.False(t, one.Waiting())
	require.True(t, two.Waiting())
	release(t, first)
	s.Settle()
	require.True(t, second.Waiting(), "it lasts until its own forks have left")
	for _, at := range []*conformance.Attempt{one, two, second} {
		release(t, at.Granted())
	}
	release(t, held)
	release(t, s.Start(s.a, 0).Granted())
}

func forkReEnters(t *testing.T, s subject) {
	held := s.Acquire(s.a)
	outer := s.fork(held, 0).Granted()
	waits := s.fork(held, lease.Forever)
	inner := s.StartWith(outer.Context(), s.a, 0).Granted()
	above := s.StartWith(held.Context(), s.a, 0).Granted() // a fork does not keep its owner out
	release(t, above, outer)
	s.Settle()
	require.True(t, waits.Waiting(), "the fork has another lease")
	release(t, inner)
	release(t, waits.Granted(), held)
}
