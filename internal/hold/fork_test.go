package hold_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A family is an owner with its forks, which enter and leave at random, and check on
// each other.
type family struct {
	p        world
	t        *testing.T
	lost     bool // the hold may be lost meanwhile
	all      *sync.WaitGroup
	ctx      context.Context // a handle's of the owner
	admitted atomic.Int32    // forks right below the owner
	before   *lease.Lease    // of the fork that was admitted last
	below    *family         // and its forks
}

// fork has a fork enter below the owner. In another goroutine it waits for that or
// gives up, and is forked again.
func (f *family) fork(random *rand.Rand, depth int) {
	h, wait, err := hold.Enter(lease.Fork(f.ctx), f.p.key())
	f.all.Go(func() { f.enter(h, wait, err, random, depth) })
}

func (f *family) enter(h *lease.Lease, wait *hold.ForkWait, err error, random *rand.Rand, depth int) {
	ctx, cancel := context.WithTimeout(f.ctx, time.Duration(1+random.IntN(50))*time.Millisecond)
	defer cancel()
	if wait != nil {
		h, err = wait.Await(ctx)
	}
	if err != nil {
		assert.True(f.t, ctx.Err() != nil || f.lost, "%v", err)
		return
	}
	if !assert.NotNil(f.t, h) {
		return
	}
	assert.EqualValues(f.t, 1, f.admitted.Add(1), "forks admitted together")
	assert.True(f.t, f.before == nil || !stands(f.before), "the fork before has left, and its work goes on")
	assert.True(f.t, f.below == nil || f.below.admitted.Load() == 0 || f.lost, "the fork before has admitted forks")
	below := &family{p: f.p, t: f.t, lost: f.lost, all: f.all, ctx: context.WithoutCancel(h.Context())}
	f.before, f.below = h, below
	for range depth {
		below.fork(rand.New(rand.NewPCG(random.Uint64(), 1)), depth-1)
	}
	time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
	again, _, err := hold.Enter(h.Context(), f.p.key())
	if err == nil && assert.NotNil(f.t, again, "a fork re-enters what it has") {
		err = again.Release()
	}
	assert.True(f.t, err == nil || f.lost, "%v", err)
	f.admitted.Add(-1)
	err = h.Release()
	assert.True(f.t, err == nil || f.lost, "%v", err)
}

func TestForksComeAndGo(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				lost := seed%4 == 3
				first := p.grant(t, t.Context())
				var all sync.WaitGroup
				f := &family{p: p, t: t, lost: lost, all: &all, ctx: context.WithoutCancel(first.Context())}
				random := rand.New(rand.NewPCG(seed, 0))
				for range 8 {
					f.fork(rand.New(rand.NewPCG(random.Uint64(), 1)), 2)
				}
				if lost {
					time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
					p.server.ExpireSession(p.Session().ID())
				}
				time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
				err := first.Release() // before or after the forks
				all.Wait()
				if !lost {
					require.NoError(t, err)
				}
				time.Sleep(2 * timeout)
				assert.Zero(t, p.nodes(), "the last one has released the slot")
				h, wait, err := hold.Enter(f.ctx, p.key())
				assert.True(t, h == nil && wait == nil, "a hold that is over is not entered")
				assert.True(t, err == nil || lost, "%v", err)
			})
		})
	}
}

// A fork, and a fork of it, release at one moment: the next fork is admitted when the
// contexts of both have ended.
func TestClaimCountsUntilItsContextHasEnded(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context())
		ctx := lease.Fork(context.WithoutCancel(first.Context()))
		fork, _, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		below, _, err := hold.Enter(lease.Fork(context.WithoutCancel(fork.Context())), p.key())
		require.NoError(t, err)
		_, next, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)

		leave := hold.Dismiss(fork.Context())
		require.NoError(t, below.Release())
		require.True(t, stands(fork), "its release has not come to that")
		select {
		case <-next.Admitted():
			require.Fail(t, "admitted beside the work of the fork before")
		default:
		}
		require.NoError(t, leave())
		require.False(t, stands(fork))
		got, err := next.Await(t.Context())
		require.NoError(t, err)
		require.NoError(t, got.Release())
		require.NoError(t, first.Release())
		assert.Zero(t, p.nodes())
	})
}

// A hold is lost during a release: that is why the work ends, before the node goes.
func TestHoldIsLostDuringARelease(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		h := p.grant(t, t.Context(), maxHold(time.Second))
		leave := hold.Dismiss(h.Context())
		time.Sleep(time.Second)
		synctest.Wait()
		require.True(t, stands(h), "its release has not come to that")
		deletions := 0
		p.server.SetFaults(p.onDelete(func() {
			deletions++
			assert.False(t, stands(h))
		}))
		require.ErrorIs(t, leave(), lease.ErrMaxHold)
		require.ErrorIs(t, context.Cause(h.Context()), lease.ErrMaxHold)
		synctest.Wait()
		assert.Positive(t, deletions)
	})
}

// A fork that is admitted at the moment of a loss gets no lease, and keeps no claim.
func TestForkWaitInALostHold(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context(), maxHold(time.Second))
		ctx := lease.Fork(context.WithoutCancel(first.Context()))
		other, _, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		_, wait, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		require.NoError(t, other.Release()) // the waiting fork is admitted, and has not noticed
		assert.Equal(t, 1, wait.Ahead())
		time.Sleep(time.Second)
		_, err = wait.Await(t.Context())
		require.ErrorIs(t, err, lease.ErrMaxHold)
		require.ErrorIs(t, first.Release(), lease.ErrMaxHold)
		time.Sleep(grace)
		assert.Zero(t, p.nodes())
	})
}

// A fork whose wait ends while the hold is lost, and that is admitted at that very
// moment, has nothing that continues under the lost hold.
func TestForkBetweenALossAndTheEndOfItsWait(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 1000 {
			first := p.grant(t, t.Context())
			h, _, err := hold.Owner(first.Context(), p.key())
			require.NoError(t, err)
			ctx := lease.Fork(context.WithoutCancel(first.Context()))
			other, _, err := hold.Enter(ctx, p.key())
			require.NoError(t, err)
			var all sync.WaitGroup
			begin := make(chan struct{})
			got := make([]*lease.Lease, 4)
			for i := range got {
				_, wait, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				all.Go(func() { <-begin; got[i], _ = wait.Await(ended) })
			}
			all.Go(func() {
				<-begin
				h.MarkDeleted()
				_ = other.Release()
			})
			for range 4 { // keep the lock busy
				all.Go(func() {
					<-begin
					for range 20 {
						_ = first.Err()
					}
				})
			}
			close(begin)
			all.Wait()
			for _, g := range got {
				if g != nil {
					require.ErrorIs(t, context.Cause(g.Context()), lease.ErrDeleted)
					require.ErrorIs(t, g.Release(), lease.ErrDeleted)
				}
			}
			require.ErrorIs(t, first.Release(), lease.ErrDeleted)
		}
	})
}

// An admitted fork enters even if its wait ends at that moment: nothing else would end
// its claim.
func TestAdmittedForkEntersAlthoughItsWaitEnds(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		first := p.grant(t, t.Context())
		ctx := lease.Fork(first.Context())
		other, _, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			_, wait, err := hold.Enter(ctx, p.key())
			require.NoError(t, err)
			require.NoError(t, other.Release())
			other, err = wait.Await(ended)
			require.NoError(t, err)
		}
		require.NoError(t, first.Release())
		assert.Equal(t, 1, p.nodes())
		require.NoError(t, other.Release())
		assert.Zero(t, p.nodes())
	})
}

// A fork that has left owns nothing: with a context that it kept it is a new fork of
// the owner above, and so are its forks.
func TestForkThatHasLeft(t *testing.T) {
	for name, with := range map[string]func(context.Context) context.Context{
		"itself": func(ctx context.Context) context.Context { return ctx }, "its fork": lease.Fork,
	} {
		t.Run(name, func(t *testing.T) {
			granting(t, func(t *testing.T, p world) {
				first := p.grant(t, t.Context())
				ctx := lease.Fork(first.Context())
				left, _, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				kept := context.WithoutCancel(left.Context())
				require.NoError(t, left.Release())
				other, _, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				h, wait, err := hold.Enter(with(kept), p.key())
				require.NoError(t, err)
				require.Nil(t, h, "another is admitted")
				require.NoError(t, other.Release())
				h, err = wait.Await(t.Context())
				require.NoError(t, err)
				require.NoError(t, h.Release())
				require.NoError(t, first.Release())
				assert.Zero(t, p.nodes())
			})
		})
	}
}
