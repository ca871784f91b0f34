package hold_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The contexts have ended when the delete is sent, and the answer is not waited for.
func TestReleaseAsync(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		time.Sleep(timeout) // it has a watch
		ctx := h.Context()
		p.server.SetFaults(p.onDelete(func() { assert.Error(t, ctx.Err()) }))
		p.server.On(zktest.OpDelete, "").Delay(time.Second)
		begun := time.Now()
		require.NoError(t, h.ReleaseAsync())
		require.Zero(t, time.Since(begun))
		require.ErrorIs(t, h.Err(), lease.ErrReleased)
		require.ErrorIs(t, context.Cause(ctx), lease.ErrReleased)
		synctest.Wait()
		require.Equal(t, 1, p.nodes())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, p.nodes())
		require.Zero(t, p.server.Watches())
	})
}

// Only the last lease of a hold frees the slot.
func TestReleaseAsyncOfOneOfSeveral(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context())
		second, _, err := hold.Enter(first.Context(), p.key())
		require.NoError(t, err)
		require.NoError(t, first.ReleaseAsync())
		synctest.Wait()
		require.Equal(t, 1, p.nodes())
		require.NoError(t, second.Err())
		require.NoError(t, second.ReleaseAsync())
		synctest.Wait()
		require.Zero(t, p.nodes())
	})
}

// A loss that is known is an error as with Release.
func TestReleaseAsyncOfALostLease(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(time.Second))
		time.Sleep(time.Second)
		require.ErrorIs(t, h.ReleaseAsync(), lease.ErrMaxHold)
		synctest.Wait()
		require.Zero(t, p.nodes())

		h = p.grant(t, t.Context())
		require.NoError(t, p.Close())
		require.ErrorIs(t, h.ReleaseAsync(), framework.ErrClosed)
	})
}

// Several nodes are removed in one transaction, which is waited for.
func TestReleaseAsyncOfSeveralNodes(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grantPair(t, p.pair(t))
		require.NoError(t, h.ReleaseAsync())
		require.Zero(t, p.nodes())
	})
}

// The watch of a lease goes when the answer has come, whatever it is.
func TestReleaseAsyncThatFails(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		w, watched := p.watched(t)
		h := p.grant(t, t.Context(), watched)
		p.server.On(zktest.OpDelete, "").Fail(zktest.NoAuth)
		require.NoError(t, h.ReleaseAsync())
		synctest.Wait()
		require.Equal(t, 1, p.nodes())
		require.True(t, w.isStopped())
	})
}

// Observers are notified of the end once, when the answer has come, and of a loss that
// it shows. The requests have the values of the hold's context.
func TestReleaseAsyncIsObserved(t *testing.T) {
	type key struct{}
	var ended []framework.HoldEnd
	var span any
	observer := framework.Observer{
		HoldStarted: func(ctx context.Context, _ framework.HoldInfo) context.Context {
			return context.WithValue(ctx, key{}, "span")
		},
		HoldEnded: func(_ context.Context, end framework.HoldEnd) { ended = append(ended, end) },
		RequestEnded: func(ctx context.Context, r framework.Request) {
			if r.Op == "delete" {
				span = ctx.Value(key{})
			}
		},
	}
	granting(t, func(t *testing.T, p world) {
		for _, code := range []zktest.Code{0, zktest.NoNode} {
			ctx, cancel := context.WithCancel(t.Context())
			h := p.grant(t, ctx)
			cancel()
			time.Sleep(time.Second)
			rule := p.server.On(zktest.OpDelete, "").After()
			if rule.Delay(time.Second); code != 0 {
				p.server.On(zktest.OpDelete, "").Fail(code)
			}
			synctest.Wait()
			ended, span = nil, nil
			require.NoError(t, h.ReleaseAsync())
			time.Sleep(2 * timeout)
			synctest.Wait()
			require.Len(t, ended, 1)
			require.Equal(t, time.Second, ended[0].Held)
			require.Equal(t, code != 0, errors.Is(ended[0].Err, lease.ErrDeleted))
			require.Equal(t, code == 0, ended[0].Err == nil)
			require.Equal(t, "span", span)
		}
	}, func(cfg *framework.Config) { cfg.Observers = []framework.Observer{observer} })
}
