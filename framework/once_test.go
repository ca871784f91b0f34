package framework_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestOnceRepeatsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s)
		s.On(zktest.OpGetData, "/").After().Cut()
		_, _, err := c.Get(t.Context(), "/")
		require.NoError(t, err, "a read is repeated")
		require.Equal(t, 2, s.Count(zktest.OpGetData))
		s.On(zktest.OpGetData, "/").After().Cut()
		_, _, err = kit.Of(c).Once().Get(t.Context(), "/")
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Equal(t, 3, s.Count(zktest.OpGetData))
	})
}

func TestRandMakesNamesThatRepeat(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { kit.SetRandom(cfg, bytes.NewReader(make([]byte, 16))) })
		made, err := c.CreateProtected(t.Context(), "/n-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		require.Equal(t, "/_c_00000000-0000-8000-8000-000000000000-n-0000000000", made.Path)
	})
}

func TestWithoutRandomNumbersNothingIsCreated(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		broken := errors.New("no entropy")
		c := connect(t, s, func(cfg *framework.Config) { kit.SetRandom(cfg, iotest.ErrReader(broken)) })
		_, err := c.CreateProtected(t.Context(), "/n-", nil, framework.EphemeralSequential)
		require.ErrorIs(t, err, broken)
		require.Equal(t, framework.Failed, framework.OutcomeOf(err))
		require.Zero(t, s.Count(zktest.OpCreate))
	})
}

func TestClosedClientDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for range 20 { // it was a race
		inBubble(t, func(t *testing.T, s *zktest.Server) {
			c := connect(t, s)
			time.Sleep(2 * time.Second) // the connection has lasted: another would be tried at once
			require.NoError(t, c.Close())
			require.Empty(t, s.Sessions())
			require.Equal(t, 1, s.Count(zktest.OpConnect))
		})
	}
}

// A call that its context ends tells what had failed until then, also if it was just
// about to try again.
func TestEndedCallTellsWhatFailed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.Retry = retry.Constant(50 * time.Millisecond) })
		s.On(zktest.OpGetChildren2, "/").Always().Fail(zktest.ThrottledOp)
		for range 20 {
			_, _, err := c.Children(within(t, 300*time.Millisecond), "/")
			require.ErrorIs(t, err, errStopped)
			require.ErrorIs(t, err, framework.ErrThrottled)
		}
	})
}
