package hold_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestHandleOfAHeldSlot(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		time.Sleep(3 * timeout)
		require.NoError(t, h.Err())
		require.True(t, stands(h))
		require.NoError(t, h.Confirm(t.Context()))
		info, ok := p.server.Node("/ns" + h.Path())
		require.True(t, ok)
		assert.EqualValues(t, info.Czxid, h.Token())
		assert.Equal(t, p.Session().TrustedUntil(), h.TrustedUntil())
		_, err := p.Multi(t.Context(), h.Check(), framework.CreateOp("/done", nil, framework.Persistent))
		require.NoError(t, err)

		require.NoError(t, h.Release())
		assert.Zero(t, p.nodes())
		assert.Zero(t, p.server.Watches(), "scenario 24")
		require.ErrorIs(t, h.Err(), lease.ErrReleased)
		assert.NotErrorIs(t, h.Err(), lease.ErrLost)
		require.ErrorIs(t, context.Cause(h.Context()), lease.ErrReleased)
		require.ErrorIs(t, h.Release(), lease.ErrReleased)
		require.ErrorIs(t, h.Confirm(t.Context()), lease.ErrReleased)
		assert.Contains(t, h.Release().Error(), h.Path())
		_, err = p.Multi(t.Context(), h.Check(), framework.CreateOp("/again", nil, framework.Persistent))
		assert.ErrorIs(t, err, framework.ErrNoNode)
	})
}

func TestHandleCarriesTheValuesAndTheEndOfItsContext(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		h := p.grant(t, ctx)
		assert.Equal(t, "value", h.Context().Value(key{}))
		cancel()
		assert.False(t, stands(h))
		require.NoError(t, h.Err(), "the slot is held until it is released")
		assert.Equal(t, 1, p.nodes())
		require.NoError(t, h.Release())
		assert.Zero(t, p.nodes())
	})
}

// Work under a claim must be notified before the next client can be admitted.
func TestContextEndsBeforeTheNodeGoes(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		deletions := 0
		p.server.SetFaults(p.onDelete(func() {
			deletions++
			assert.False(t, stands(h))
		}))
		require.NoError(t, h.Release())
		assert.Positive(t, deletions)
	})
}

func TestHoldEndsWithItsLastHandle(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} {
			first := p.grant(t, t.Context())
			handles := []*lease.Lease{first}
			ctx := context.WithoutCancel(first.Context())
			for range 2 {
				h, _, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				require.NotNil(t, h)
				assert.Equal(t, first.Token(), h.Token())
				handles = append(handles, h)
				ctx = context.WithoutCancel(h.Context()) //nolint:fatcontext // two contexts, each derived from the one before
			}
			assert.Equal(t, 1, p.nodes())
			for i, which := range order {
				require.NoError(t, handles[which].Release())
				assert.False(t, stands(handles[which]))
				require.ErrorIs(t, handles[which].Err(), lease.ErrReleased)
				require.ErrorIs(t, handles[which].Release(), lease.ErrReleased, "twice")
				for _, later := range order[i+1:] {
					require.NoError(t, handles[later].Err(), "the others stand")
					assert.True(t, stands(handles[later]))
				}
				assert.Equal(t, i < 2, p.nodes() == 1)
			}
			h, _, err := hold.Enter(ctx, p.key())
			require.NoError(t, err)
			assert.Nil(t, h, "a slot that was released is not re-entered")
		}
	})
}

func TestEnterNeedsTheContextOfAHolder(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		other := p.key()
		other.Kind = "semaphore"
		elsewhere := p.key()
		elsewhere.Path += "2"
		unrelated := p.key()
		unrelated.Client = dial(t, p.server, "unrelated")
		view := p.key()
		view.Client = p.In(p.Session())
		for name, tc := range map[string]struct {
			ctx  context.Context
			key  hold.Key
			want bool
		}{
			"the holder's":              {h.Context(), p.key(), true},
			"derived":                   {context.WithValue(h.Context(), p, 1), p.key(), true},
			"through another view":      {h.Context(), view, true},
			"a plain one":               {t.Context(), p.key(), false},
			"stripped":                  {lease.WithoutOwner(h.Context()), p.key(), false},
			"another kind":              {h.Context(), other, false},
			"another path":              {h.Context(), elsewhere, false},
			"another client":            {h.Context(), unrelated, false},
			"stripped and derived from": {context.WithValue(lease.WithoutOwner(h.Context()), p, 1), p.key(), false},
		} {
			got, _, err := hold.Enter(tc.ctx, tc.key)
			require.NoError(t, err, name)
			require.Equal(t, tc.want, got != nil, name)
			if got != nil {
				require.NoError(t, got.Release())
			}
		}
		require.NoError(t, h.Release())
	})
}

func TestEnterFindsOuterHoldsThroughInnerOnes(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		outer := p.grant(t, t.Context())
		kind := p.key()
		kind.Kind = "other"
		inner := p.grant(t, outer.Context(), func(g *hold.Grant) { g.Key = kind })
		again, _, err := hold.Enter(inner.Context(), p.key())
		require.NoError(t, err)
		require.NotNil(t, again)
		assert.Equal(t, outer.Token(), again.Token())
		same, _, err := hold.Enter(again.Context(), kind)
		require.NoError(t, err)
		require.NotNil(t, same)
		assert.Equal(t, inner.Token(), same.Token())
		// The stripped context owns what is acquired with it.
		fresh := p.grant(t, lease.WithoutOwner(inner.Context()))
		h, _, err := hold.Enter(fresh.Context(), p.key())
		require.NoError(t, err)
		assert.Equal(t, fresh.Token(), h.Token())
		missing, _, err := hold.Enter(fresh.Context(), kind)
		require.NoError(t, err)
		assert.Nil(t, missing)
		for _, h := range []*lease.Lease{h, fresh, same, again, inner, outer} {
			require.NoError(t, h.Release())
		}
		assert.Zero(t, p.nodes())
	})
}

// Many goroutines enter and release; the slot is free after the last handle.
func TestHandlesAreCountedUnderLoad(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context())
		ctx := context.WithoutCancel(first.Context())
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				for j := range 20 {
					h, _, err := hold.Enter(ctx, p.key())
					if !assert.NoError(t, err) || !assert.NotNil(t, h) {
						return
					}
					time.Sleep(time.Duration((i*j+3*i)%10) * time.Millisecond)
					assert.NoError(t, h.Err())
					assert.NoError(t, h.Release())
				}
			})
		}
		all.Wait()
		assert.Equal(t, 1, p.nodes())
		require.NoError(t, first.Release())
		assert.Zero(t, p.nodes())
	})
}

func TestHandleReleasedByManyAtATime(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for i := range 20 {
			h := p.grant(t, t.Context())
			time.Sleep(time.Duration(i) * time.Millisecond)
			results := make(chan error, 10)
			for range 10 {
				go func() { results <- h.Release() }()
			}
			intact := 0
			for range 10 {
				if err := <-results; err == nil {
					intact++
				} else {
					assert.ErrorIs(t, err, lease.ErrReleased)
				}
			}
			assert.Equal(t, 1, intact)
			assert.Zero(t, p.nodes())
		}
	})
}
