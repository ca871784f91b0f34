package hold_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A family is an owner with its forks, which come and go at random, and look for each
// other.
type family struct {
	p      place
	t      *testing.T
	lost   bool // the hold may be lost meanwhile
	all    *sync.WaitGroup
	ctx    context.Context // a handle's of the owner
	inside atomic.Int32    // forks right below the owner
	before *lease.Lease    // the one that was inside last
	below  *family         // and its forks
}

// fork lets a fork ask to enter below the owner, and then, beside the caller, wait for
// that or give up, and be forked again.
func (f *family) fork(random *rand.Rand, depth int) {
	h, turn, err := hold.Enter(lease.Fork(f.ctx), f.p.key())
	f.all.Go(func() { f.enter(h, turn, err, random, depth) })
}

func (f *family) enter(h *lease.Lease, turn *hold.ForkWait, err error, random *rand.Rand, depth int) {
	ctx, cancel := context.WithTimeout(f.ctx, time.Duration(1+random.IntN(50))*time.Millisecond)
	defer cancel()
	if turn != nil {
		h, err = turn.Await(ctx)
	}
	if err != nil {
		assert.True(f.t, ctx.Err() != nil || f.lost, "%v", err)
		return
	}
	if !assert.NotNil(f.t, h) {
		return
	}
	assert.EqualValues(f.t, 1, f.inside.Add(1), "forks inside together")
	assert.True(f.t, f.before == nil || !stands(f.before), "the fork before has left, and its work goes on")
	assert.True(f.t, f.below == nil || f.below.inside.Load() == 0 || f.lost, "the fork before has forks inside")
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
	f.inside.Add(-1)
	err = h.Release()
	assert.True(f.t, err == nil || f.lost, "%v", err)
}

func TestForksComeAndGo(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			granting(t, func(t *testing.T, p place) {
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
				assert.Zero(t, p.nodes(), "the last one has given the place up")
				h, turn, err := hold.Enter(f.ctx, p.key())
				assert.True(t, h == nil && turn == nil, "nobody enters what is over")
				assert.True(t, err == nil || lost, "%v", err)
			})
		})
	}
}

// Whoever's turn comes at the moment of a loss does not get it, and does not keep it.
func TestTurnOfALostHold(t *testing.T) {
	granting(t, func(t *testing.T, p place) {
		first := p.grant(t, t.Context(), maxHold(time.Second))
		ctx := lease.Fork(context.WithoutCancel(first.Context()))
		inside, _, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		_, turn, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		require.NoError(t, inside.Release()) // it is inside now, and has not looked
		assert.Equal(t, 1, turn.Ahead())
		time.Sleep(time.Second)
		_, err = turn.Await(t.Context())
		require.ErrorIs(t, err, lease.ErrMaxHold)
		require.ErrorIs(t, first.Release(), lease.ErrMaxHold)
		time.Sleep(grace)
		assert.Zero(t, p.nodes())
	})
}

// Whose wait ends while the hold is lost, and whose turn comes at that very moment, has
// nothing that goes on under the lost hold.
func TestTurnBetweenALossAndTheEndOfAWait(t *testing.T) {
	granting(t, func(t *testing.T, p place) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 1000 {
			first := p.grant(t, t.Context())
			h, _, err := hold.Owner(first.Context(), p.key())
			require.NoError(t, err)
			ctx := lease.Fork(context.WithoutCancel(first.Context()))
			inside, _, err := hold.Enter(ctx, p.key())
			require.NoError(t, err)
			var all sync.WaitGroup
			begin := make(chan struct{})
			got := make([]*lease.Lease, 4)
			for i := range got {
				_, turn, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				all.Go(func() { <-begin; got[i], _ = turn.Await(ended) })
			}
			all.Go(func() {
				<-begin
				h.MarkDeleted()
				_ = inside.Release()
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

// A turn that has come is taken even if the wait for it ends at that moment: there
// would be nobody to give it back.
func TestTurnThatHasComeIsTaken(t *testing.T) {
	granting(t, func(t *testing.T, p place) {
		first := p.grant(t, t.Context())
		ctx := lease.Fork(first.Context())
		inside, _, err := hold.Enter(ctx, p.key())
		require.NoError(t, err)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			_, turn, err := hold.Enter(ctx, p.key())
			require.NoError(t, err)
			require.NoError(t, inside.Release())
			inside, err = turn.Await(ended)
			require.NoError(t, err)
		}
		require.NoError(t, first.Release())
		assert.Equal(t, 1, p.nodes())
		require.NoError(t, inside.Release())
		assert.Zero(t, p.nodes())
	})
}

// Who has left is inside no longer: with a context that it kept it is a fork, again, of
// the owner above, and so are its forks.
func TestForkThatHasLeft(t *testing.T) {
	for name, with := range map[string]func(context.Context) context.Context{
		"itself": func(ctx context.Context) context.Context { return ctx }, "its fork": lease.Fork,
	} {
		t.Run(name, func(t *testing.T) {
			granting(t, func(t *testing.T, p place) {
				first := p.grant(t, t.Context())
				ctx := lease.Fork(first.Context())
				left, _, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				kept := context.WithoutCancel(left.Context())
				require.NoError(t, left.Release())
				inside, _, err := hold.Enter(ctx, p.key())
				require.NoError(t, err)
				h, turn, err := hold.Enter(with(kept), p.key())
				require.NoError(t, err)
				require.Nil(t, h, "another is inside")
				require.NoError(t, inside.Release())
				h, err = turn.Await(t.Context())
				require.NoError(t, err)
				require.NoError(t, h.Release())
				require.NoError(t, first.Release())
				assert.Zero(t, p.nodes())
			})
		})
	}
}
