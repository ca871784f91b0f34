package hold_test

import (
	"context"
	"sync"
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

func stopping(cfg *framework.Config) { cfg.StopOnSuspend = true }

// Work under a lost lease has the same time to end as after the loss of a session; then
// the next client may be admitted.
func TestMaxHoldWindsDownBeforeTheNodeIsDeleted(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(5*time.Second))
		end := time.Now().Add(5 * time.Second)
		assert.Equal(t, end, h.TrustedUntil())
		time.Sleep(time.Until(end) - 1)
		require.NoError(t, h.Err())
		require.True(t, stands(h))
		<-h.Context().Done()
		assert.Equal(t, end, time.Now())
		lostTo(t, h, lease.ErrMaxHold)
		time.Sleep(grace - 1)
		assert.Equal(t, 1, p.nodes())
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		assert.Zero(t, p.nodes())
		require.ErrorIs(t, h.Release(), lease.ErrMaxHold)
		assert.NoError(t, p.Session().Err())
	})
}

// The greatest time there is bounds nothing.
func TestMaxHoldThatNeverPasses(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		require.NoError(t, p.grant(t, t.Context()).Release())
		time.Sleep(time.Second)
		h := p.grant(t, t.Context(), maxHold(lease.Forever))
		for range 3 {
			require.NoError(t, h.Err())
			assert.Equal(t, p.Session().TrustedUntil(), h.TrustedUntil())
			time.Sleep(timeout)
		}
		require.NoError(t, h.Release())
	})
}

func TestReleaseDuringTheWindDownFreesTheSlotAtOnce(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(5*time.Second))
		<-h.Context().Done()
		require.ErrorIs(t, h.Release(), lease.ErrMaxHold)
		synctest.Wait()
		assert.Zero(t, p.nodes())
	})
}

func TestReleaseInTimeIsNoLoss(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(5*time.Second))
		time.Sleep(4 * time.Second)
		require.NoError(t, h.Release())
		time.Sleep(timeout)
		require.ErrorIs(t, context.Cause(h.Context()), lease.ErrReleased)
	})
}

func TestMaxHoldEndsTheContextWhileSuspended(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		time.Sleep(2 * timeout)
		h := p.grant(t, t.Context(), maxHold(time.Second))
		begun := time.Now()
		p.suspend() // before the hold has looked at its node for the first time
		<-h.Context().Done()
		assert.Equal(t, time.Second, time.Since(begun))
		lostTo(t, h, lease.ErrMaxHold)
		p.resume()
		time.Sleep(grace)
		assert.Zero(t, p.nodes())
		assert.NoError(t, p.Session().Err())
	})
}

func TestStopOnSuspendEndsTheHoldAtOnce(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		time.Sleep(time.Second)
		p.suspend()
		assert.False(t, stands(h))
		lostTo(t, h, lease.ErrSuspended)
		p.resume()
		time.Sleep(grace)
		assert.Zero(t, p.nodes(), "the session lives, so the node has to be removed")
		assert.NoError(t, p.Session().Err())
		require.ErrorIs(t, h.Release(), lease.ErrSuspended)

		h = p.grant(t, t.Context())
		time.Sleep(time.Second)
		require.NoError(t, h.Err(), "a hold that begins afterwards is not concerned")
		require.NoError(t, h.Release())
	}, stopping)
}

func TestStopOnSuspendEndsTheContextDuringALook(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		p.server.On(zktest.OpGetData, "/ns/lock").DropReply()
		h := p.grant(t, t.Context())
		time.Sleep(time.Second) // the read is under way
		p.suspend()
		assert.False(t, stands(h))
		lostTo(t, h, lease.ErrSuspended)
	}, stopping)
}

// A connection that broke and was made again before any check counts as broken all the
// same.
func TestStopOnSuspendIsNotMissedOverAShortBreak(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		p.server.DropConnections("client")
		time.Sleep(time.Second)
		require.Equal(t, framework.Connected, p.State())
		lostTo(t, h, lease.ErrSuspended)
	}, stopping)
}

func TestHoldThatBeginsWhileSuspendedStopsAtOnce(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), func(*hold.Grant) { p.suspend() })
		synctest.Wait()
		assert.False(t, stands(h))
		lostTo(t, h, lease.ErrSuspended)
	}, stopping)
}

func TestReleaseWhileSuspendedReturnsAtOnce(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		time.Sleep(timeout)
		p.suspend()
		begun := time.Now()
		require.NoError(t, h.Release(), "it was intact to the end")
		assert.Zero(t, time.Since(begun))
		assert.Equal(t, 1, p.nodes())
		p.resume()
		assert.Zero(t, p.nodes(), "the node goes in the background")
		assert.NoError(t, p.Session().Err())
	})
}

// CURATOR-678, scenario 39.
func TestReleaseWhoseAnswerIsLost(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{
		"applied": (*zktest.Rule).After, "not applied": (*zktest.Rule).Before,
	} {
		t.Run(name, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				h := p.grant(t, t.Context())
				time.Sleep(time.Second)
				aim(p.server.On(zktest.OpDelete, "")).Cut()
				aim(p.server.On(zktest.OpDelete, "").Nth(2)).Cut()
				require.NoError(t, h.Release())
				time.Sleep(time.Second)
				assert.Zero(t, p.nodes())
				assert.NoError(t, p.Session().Err())
			})
		})
	}
}

func TestReleaseIsBounded(t *testing.T) {
	for name, freeze := range map[string]func(p world){
		"unanswered":  func(p world) { p.server.On(zktest.OpDelete, "").DropReply() },
		"partitioned": func(p world) { p.server.Partition("client", true) },
		"paused":      func(p world) { p.server.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				h := p.grant(t, t.Context())
				time.Sleep(timeout)
				freeze(p)
				begun := time.Now()
				require.NoError(t, h.Release())
				assert.LessOrEqual(t, time.Since(begun), timeout/3)
				p.server.Resume()
				p.server.Partition("client", false)
				time.Sleep(timeout)
				assert.Zero(t, p.nodes())
			})
		})
	}
}

// Releases share what bounds them. A later one does not end an earlier one, and none is
// much shorter than others.
func TestEachReleaseIsBoundedByItself(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		const n, limit = 100, timeout / 3
		shared := map[context.Context]struct{}{}
		var releases sync.WaitGroup
		for range n {
			ctx, begun := hold.Removal(p.Client), time.Now()
			shared[ctx] = struct{}{}
			releases.Go(func() {
				<-ctx.Done()
				assert.LessOrEqual(t, time.Since(begun), limit)
				assert.GreaterOrEqual(t, time.Since(begun), limit-limit/8)
				assert.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)
			})
			time.Sleep(timeout / n)
		}
		releases.Wait()
		assert.Less(t, len(shared), n/3)
	})
}

func TestReleaseAfterTheClientWasClosed(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		require.NoError(t, p.Close())
		assert.Zero(t, p.nodes())
		err := h.Release()
		require.ErrorIs(t, err, lease.ErrLost)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

func TestReleaseThatIsRefusedSaysSo(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		p.server.On(zktest.OpDelete, "").Fail(zktest.NoAuth)
		err := h.Release()
		require.ErrorIs(t, err, framework.ErrNoAuth)
		assert.NotErrorIs(t, err, lease.ErrLost)
		assert.Contains(t, err.Error(), "/ns"+h.Path())
	})
}

// Most holds are over before they would have looked at their node.
func TestShortHoldCostsNoRead(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		p.server.ResetCounts()
		for range 10 {
			require.NoError(t, p.grant(t, t.Context()).Release())
		}
		assert.Equal(t, 10, p.server.Count(zktest.OpCreate))
		assert.Equal(t, 10, p.server.Count(zktest.OpDelete))
		assert.Zero(t, p.server.Count(zktest.OpGetData)+p.server.Count(zktest.OpExists)+p.server.Count(zktest.OpGetChildren2))
	})
}

// A read that waits for a connection is not made any more when there is one again.
func TestReleaseEndsALookThatIsUnderWay(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context())
		p.suspend()
		time.Sleep(time.Second)
		require.NoError(t, h.Release())
		p.server.ResetCounts()
		p.resume()
		assert.Zero(t, p.nodes())
		assert.Zero(t, p.server.Count(zktest.OpGetData))
	})
}

func TestManyHoldsLeaveNothing(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for i := range 100 {
			h := p.grant(t, t.Context())
			time.Sleep(time.Duration(i) * time.Millisecond / 2)
			require.NoError(t, h.Release())
		}
		synctest.Wait()
		assert.Zero(t, p.nodes())
		assert.Zero(t, p.server.Watches())
	})
}
