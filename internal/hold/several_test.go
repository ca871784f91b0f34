package hold_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// several returns a lease on so many holds.
func (p world) several(t *testing.T, n int, change ...func(*hold.Grant)) *lease.Lease {
	t.Helper()
	all, ctx := new(hold.Several), t.Context()
	for i := range n {
		l := p.grant(t, ctx, change...)
		first, err := all.Add(ctx, l, i)
		require.NoError(t, err)
		require.True(t, first)
		ctx = l.Context() //nolint:fatcontext // they are few
	}
	both := all.Lease()
	require.Len(t, both.Tokens(), n)
	return both
}

// Whoever sees that one of the holds is lost sees it of the claim on all, also while
// the loss is just being found out.
func TestLossOfOneOfSeveralIsSeenAtOnce(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		all, first := new(hold.Several), p.grant(t, t.Context(), maxHold(time.Second))
		_, err := all.Add(t.Context(), first, 0)
		require.NoError(t, err)
		second := p.grant(t, first.Context())
		_, err = all.Add(first.Context(), second, 1)
		require.NoError(t, err)
		both := all.Lease()
		inner, _, err := hold.Enter(context.WithoutCancel(first.Context()), p.key())
		require.NoError(t, err)
		seen := make(chan error, 2)
		hold.OnEnd(inner, func() {
			seen <- first.Err()
			seen <- both.Err()
		})
		loss := <-seen
		require.ErrorIs(t, loss, lease.ErrMaxHold)
		require.Equal(t, loss, <-seen)
		<-both.Done()
		require.ErrorIs(t, both.Release(), lease.ErrMaxHold)
		require.ErrorIs(t, inner.Release(), lease.ErrMaxHold)
	})
}

// A claim that is undone before it began leaves nothing, and its parts know a loss.
func TestSeveralAreUndone(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		all, first := new(hold.Several), p.grant(t, t.Context(), maxHold(time.Minute))
		_, err := all.Add(t.Context(), first, 0)
		require.NoError(t, err)
		require.False(t, all.Lost())
		_, err = all.Add(first.Context(), first, 1)
		require.Error(t, err, "that is no further hold")
		require.ErrorIs(t, first.Err(), lease.ErrReleased, "it is released")
		require.True(t, all.Lost())

		all, first = new(hold.Several), p.grant(t, t.Context())
		_, err = all.Add(t.Context(), first, 0)
		require.NoError(t, err)
		all.Undo()
		require.ErrorIs(t, first.Err(), lease.ErrReleased)
		require.Eventually(t, func() bool { return p.nodes() == 0 }, time.Second, time.Millisecond)
	})
}

// A re-entry of what is held for long keeps nothing when it is over.
func TestReenteringSeveralKeepsNothing(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		outer := p.grant(t, t.Context())
		for range 100 {
			all := new(hold.Several)
			inner, _, err := hold.Enter(outer.Context(), p.key())
			require.NoError(t, err)
			first, err := all.Add(outer.Context(), inner, 0)
			require.NoError(t, err)
			require.False(t, first, "the owner has it already")
			require.NoError(t, all.Lease().Release())
		}
		require.Zero(t, hold.Listeners(outer))
		require.NoError(t, outer.Release())
		require.NoError(t, p.several(t, 3).Release())
	})
}
