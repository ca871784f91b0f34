package hold_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func done(h *lease.Lease) bool {
	select {
	case <-h.Done():
		return true
	default:
		return false
	}
}

func TestDoneOutlivesTheContextOfTheCaller(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		ctx, cancel := context.WithCancel(t.Context())
		h := p.grant(t, ctx)
		cancel()
		require.False(t, stands(h))
		require.False(t, done(h), "the lease is valid until it is released")
		require.NoError(t, h.Release())
		require.True(t, done(h))
	})
}

func TestDoneOfEachLeaseOfAHold(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context())
		second, _, err := hold.Enter(context.WithoutCancel(first.Context()), p.key())
		require.NoError(t, err)
		before := second.Done()
		require.NoError(t, first.Release())
		assert.True(t, done(first))
		assert.False(t, done(second), "the hold goes on")
		require.NoError(t, second.Release())
		<-before
	})
}

func TestDoneIsClosedByALoss(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(time.Minute))
		<-h.Done()
		require.ErrorIs(t, h.Err(), lease.ErrMaxHold)
		require.ErrorIs(t, h.Release(), lease.ErrMaxHold)
		require.True(t, done(h))
	})
}

// The context of a lease is made when it is first asked for, which may be after the end
// of the lease, or at that moment.
func TestContextThatIsFirstAskedForAtTheEnd(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		released := p.grant(t, t.Context())
		require.NoError(t, released.Release())
		require.ErrorIs(t, context.Cause(released.Context()), lease.ErrReleased)

		lost := p.grant(t, t.Context(), maxHold(time.Minute))
		<-lost.Done()
		require.Equal(t, lost.Err(), context.Cause(lost.Context()))
		require.ErrorIs(t, lost.Release(), lease.ErrMaxHold)

		for range 100 {
			h := p.grant(t, t.Context())
			asked := make(chan context.Context)
			go func() { asked <- h.Context() }()
			require.NoError(t, h.Release())
			ctx := <-asked
			require.ErrorIs(t, context.Cause(ctx), lease.ErrReleased)
			require.Equal(t, ctx, h.Context())
		}
	})
}
