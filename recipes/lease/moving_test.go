package lease_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// What docs/moving-a-fleet.md says about replacing another lock by one of ours.

// both runs fn while two locks are held, the old one first. It is that of the document.
func both(
	ctx context.Context,
	old func(ctx context.Context, fn func(ctx context.Context) error) error,
	lock lease.Acquirer, timeout time.Duration,
	fn func(ctx context.Context, held *lease.Lease) error,
) error {
	return old(ctx, func(ctx context.Context) error {
		return lease.Do(ctx, lock, timeout, fn)
	})
}

var errOldTaken = errors.New("the old lock is taken")

// movers returns the programs of the three stages, indexed by stage. Each runs fn if
// its locks are free, and does not wait.
func movers(t *testing.T, w *conformance.World) (programs [4]func(fn func()) error) {
	t.Helper()
	lock := acquirer(t, w.Client("a"))
	var taken sync.Mutex
	old := func(ctx context.Context, fn func(ctx context.Context) error) error {
		if !taken.TryLock() {
			return errOldTaken
		}
		defer taken.Unlock()
		return fn(ctx)
	}
	programs[1] = func(fn func()) error {
		return old(t.Context(), func(context.Context) error { fn(); return nil })
	}
	programs[2] = func(fn func()) error {
		return both(t.Context(), old, lock, 0, func(context.Context, *lease.Lease) error { fn(); return nil })
	}
	programs[3] = func(fn func()) error {
		return lease.Do(t.Context(), lock, 0, func(context.Context, *lease.Lease) error { fn(); return nil })
	}
	return programs
}

// Of each two programs of a mixture, one cannot enter while the other is in.
func TestStagesOfAMove(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		programs := movers(t, w)
		for _, mixture := range [][3]int{
			{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {2, 2, 2}, {3, 2, 2}, {3, 3, 2}, {3, 3, 3},
		} {
			for holder, stage := range mixture {
				require.NoError(t, programs[stage](func() {
					for other, itsStage := range mixture {
						if other != holder {
							err := programs[itsStage](func() { t.Errorf("%v: two holders", mixture) })
							require.Error(t, err)
						}
					}
				}))
			}
		}
	})
}

func TestMoveSkipsAStage(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		programs := movers(t, w)
		second := false
		require.NoError(t, programs[1](func() {
			require.NoError(t, programs[3](func() { second = true }))
		}))
		require.True(t, second, "the document warns of something that does not happen")
	})
}

func TestBothLocksGuardTheWork(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		client := w.Client("a")
		lock := acquirer(t, client)
		errOldLost := errors.New("the old lock was lost")
		var loseOld context.CancelCauseFunc
		old := func(ctx context.Context, fn func(ctx context.Context) error) error {
			ctx, loseOld = context.WithCancelCause(ctx)
			defer loseOld(nil)
			return fn(ctx)
		}
		err := both(t.Context(), old, lock, time.Second, func(ctx context.Context, held *lease.Lease) error {
			loseOld(errOldLost)
			<-ctx.Done()
			require.NoError(t, held.Err(), "nothing else has ended")
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, errOldLost)

		err = both(t.Context(), old, lock, time.Second, func(ctx context.Context, held *lease.Lease) error {
			require.NoError(t, client.Delete(ctx, held.Path(), framework.AnyVersion))
			<-ctx.Done()
			return context.Cause(ctx)
		})
		require.ErrorIs(t, err, lease.ErrLost)
	})
}

// A row has a column for the tokens of either lock. In each mixture that is allowed it
// refuses the late write of a holder when the next one has read; and in the one that is
// not allowed it does not, unless the old column has been closed.
func TestTokensOfAMove(t *testing.T) {
	type tokens struct{ old, moved int } // of the old lock, and of that which replaces it
	accepts := func(row *tokens, stage int, shown tokens) bool {
		if stage <= 2 && shown.old < row.old || stage >= 2 && shown.moved < row.moved {
			return false
		}
		if stage <= 2 {
			row.old = shown.old
		}
		if stage >= 2 {
			row.moved = shown.moved
		}
		return true
	}
	first, second := tokens{10, 7}, tokens{11, 8}
	for _, stages := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {1, 3}} {
		row := new(tokens)
		require.True(t, accepts(row, stages[0], first), stages)
		require.True(t, accepts(row, stages[1], second), stages)
		require.Equal(t, stages == [2]int{1, 3}, accepts(row, stages[0], first), stages)
		require.True(t, accepts(row, stages[1], second), stages)
	}
	closed := &tokens{math.MaxInt, 7}
	require.False(t, accepts(closed, 1, second))
	require.False(t, accepts(closed, 2, second))
	require.True(t, accepts(closed, 3, second))
}
