package framework_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A lapse is the condition of a check, which may lapse while a Multi is under way.
type lapse struct {
	asked, after int // it lapses after it was asked so often
	err          error
}

func (l *lapse) unless() error {
	if l.asked++; l.asked > l.after {
		return fmt.Errorf("%w: the lease is over", l.err)
	}
	return nil
}

// requireRefused requires that a Multi has failed by ops[1], a check of /there.
func requireRefused(t *testing.T, c *framework.Client, results []framework.OpResult, err error) {
	t.Helper()
	var multi *framework.MultiError
	require.ErrorAs(t, err, &multi)
	assert.Equal(t, 1, multi.Index)
	require.ErrorIs(t, err, framework.ErrNoNode)
	assert.Equal(t, framework.Failed, framework.OutcomeOf(err))
	var op *framework.OpError
	require.ErrorAs(t, err, &op)
	assert.Equal(t, "check", op.Op)
	assert.Equal(t, "/there", op.Path)
	assert.Equal(t, c.Session().ID(), op.Session)
	require.Len(t, results, 3)
	assert.NoError(t, results[0].Err)
	assert.ErrorIs(t, results[1].Err, framework.ErrNoNode)
	assert.ErrorContains(t, results[1].Err, "the lease is over")
	assert.ErrorIs(t, results[2].Err, framework.ErrNotTried)
}

// A check that this process knows to fail makes the Multi fail, whatever attempt it is.
func TestMultiWhoseCheckIsKnownToFail(t *testing.T) {
	for name, tc := range map[string]struct {
		after  int
		fault  func(s *zktest.Server)
		counts int // of attempts that the server has answered
	}{
		"at first":               {0, func(*zktest.Server) {}, 0},
		"when it is repeated":    {1, func(s *zktest.Server) { s.On(zktest.OpMulti, "").Fail(zktest.ThrottledOp) }, 1},
		"when it is sent thrice": {2, func(s *zktest.Server) { s.On(zktest.OpMulti, "").Always().Fail(zktest.ThrottledOp) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c, other := connect(t, s), connectAs(t, s, "other")
				_, err := c.Create(t.Context(), "/there", nil, framework.Ephemeral)
				require.NoError(t, err)
				tc.fault(s)
				for _, by := range []*framework.Client{c, other} {
					l := lapse{after: tc.after, err: framework.ErrNoNode}
					if by == other {
						l.after = 0
					}
					check := kit.Of(c).CheckExists("/there", l.unless)
					results, err := by.Multi(t.Context(), framework.CreateOp("/e", nil, framework.Ephemeral), check, framework.CreateOp("/p", nil, framework.Persistent))
					requireRefused(t, by, results, err)
					assert.Equal(t, l.after+1, l.asked, "before each attempt")
				}
				_, there := s.Node("/e")
				assert.False(t, there)
				assert.Equal(t, tc.counts, s.Count(zktest.OpMulti))
			})
		})
	}
}

// A Multi that waits for a connection asks when it has one.
func TestMultiWhoseCheckIsKnownToFailWhenThereIsAConnection(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		_, err := c.Create(t.Context(), "/there", nil, framework.Ephemeral)
		require.NoError(t, err)
		suspend(s, "client")
		l := lapse{after: 1, err: framework.ErrNoNode}
		check := kit.Of(c).CheckExists("/there", l.unless)
		call := start(func() ([]framework.OpResult, error) {
			return c.Multi(t.Context(), framework.SetOp("/there", nil, 0), check, framework.SetOp("/there", nil, 1))
		})
		synctest.Wait()
		l.after = 0 // it is released meanwhile
		reach(s, "client")
		result := <-call
		requireRefused(t, c, result.value, result.err)
		assert.Zero(t, s.Count(zktest.OpMulti))
	})
}

// A condition that has not lapsed leaves it to the server; one that has is final, also
// where the server's answer would not be, and also for a Multi that only reads.
func TestConditionOfACheck(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		good := lapse{after: 100}
		_, err := c.Multi(t.Context(), kit.Of(c).CheckExists("/", good.unless))
		require.NoError(t, err)
		op := kit.Of(c).CheckExists("/missing", good.unless)
		_, err = c.Multi(t.Context(), op)
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.Equal(t, 2, good.asked)
		again := op
		require.Equal(t, op, again, "a copy is equal")

		for _, why := range []error{framework.ErrThrottled, framework.ErrSessionLost, framework.ErrNotConnected} {
			bad := lapse{err: why}
			_, err = c.Multi(within(t, time.Second), kit.Of(c).CheckExists("/", bad.unless))
			require.ErrorIs(t, err, why)
			require.Equal(t, 1, bad.asked)
		}

		s.On(zktest.OpMulti, "").After().Cut()
		late := lapse{after: 1, err: framework.ErrNoNode}
		results, err := c.Multi(t.Context(), kit.Of(c).CheckExists("/", late.unless))
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.Equal(t, framework.Failed, framework.OutcomeOf(err))
		require.Len(t, results, 1)
		require.ErrorIs(t, results[0].Err, framework.ErrNoNode)

		made, err := kit.Of(c).CreateProtectedAll(t.Context(), "/n-", nil, 2, nil, kit.Of(c).CheckExists("/", (&lapse{err: framework.ErrNoNode}).unless))
		require.ErrorIs(t, err, framework.ErrNoNode)
		require.Empty(t, made)
	})
}
