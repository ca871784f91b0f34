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
