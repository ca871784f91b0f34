package framework_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Each attempt counts by itself: that the one before certainly had no effect says
// nothing about one whose answer is dropped.
func TestOperationRefusedForNowAndThenUnanswered(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		for _, lost := range []zktest.Phase{zktest.PhaseBeforeApply, zktest.PhaseAfterApply} {
			var sent atomic.Int32
			s.SetFaults(func(call zktest.Call) zktest.Action {
				if call.Op != o.op || call.Path == "/" {
					return zktest.Pass
				}
				if call.Phase == zktest.PhaseBeforeApply && sent.Add(1) == 1 {
					return zktest.Fail(zktest.ThrottledOp)
				}
				if call.Phase == lost && sent.Load() == 2 {
					return zktest.CutConnection
				}
				return zktest.Pass
			})
			err := o.call(t.Context(), c)
			time.Sleep(timeout / 2) // for a repetition that must not come
			if !o.writes {
				require.NoError(t, err)
				require.EqualValues(t, 3, sent.Load())
				continue
			}
			named(t, err, o)
			require.ErrorIs(t, err, framework.ErrUnknownOutcome)
			require.Equal(t, framework.Unknown, framework.OutcomeOf(err))
			require.EqualValues(t, 2, sent.Load(), "not repeated")
		}
	})
}

// A multi is repeated only if nothing in it changes anything, wherever in it that is.
func TestMultiThatChangesAnythingIsNotRepeated(t *testing.T) {
	check := framework.CheckOp("/old", framework.AnyVersion)
	changes := map[string]framework.Op{
		"create": framework.CreateOp("/new", nil, framework.Persistent),
		"set":    framework.SetOp("/old", nil, framework.AnyVersion),
		"delete": framework.DeleteOp("/old", framework.AnyVersion),
	}
	cases := map[string][]framework.Op{"check": {check}, "checks": {check, check}}
	for name, op := range changes {
		cases[name] = []framework.Op{op}
		cases[name+" before a check"] = []framework.Op{op, framework.CheckOp("/", framework.AnyVersion)}
		cases[name+" behind a check"] = []framework.Op{check, op}
	}
	t.Parallel()
	for name, ops := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s)
				_, err := c.Create(t.Context(), "/old", nil, framework.Persistent)
				require.NoError(t, err)
				s.On(zktest.OpMulti, "").After().Cut()
				_, err = c.Multi(t.Context(), ops...)
				time.Sleep(timeout / 2)
				if name == "check" || name == "checks" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				assert.Equal(t, framework.Unknown, framework.OutcomeOf(err))
				assert.Equal(t, 1, s.Count(zktest.OpMulti))
			})
		})
	}
}

// Which requests wait for their turn when a session ends is a matter of chance, so they
// fare as those do that wait for a connection: they were never sent.
func TestRequestThatWaitsForASlotWhenItsSessionEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(s *zktest.Server, c *framework.Client, stop context.CancelCauseFunc)
		want error // of the unpinned view
	}{
		"expired": {func(s *zktest.Server, c *framework.Client, _ context.CancelCauseFunc) {
			s.ExpireSession(c.Session().ID())
		}, nil},
		"closed": {func(_ *zktest.Server, c *framework.Client, _ context.CancelCauseFunc) { c.Close() }, framework.ErrClosed},
		"left":   {func(_ *zktest.Server, _ *framework.Client, stop context.CancelCauseFunc) { stop(errStopped) }, errStopped},
	} {
		t.Run(name, func(t *testing.T) {
			forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
				framework.TakeTurns(c.Session())
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				pinned := startErr(func() error { return o.call(ctx, c.In(c.Session())) })
				free := startErr(func() error { return o.call(ctx, c) })
				time.Sleep(time.Second)
				assert.Zero(t, o.applied(s))
				tc.end(s, c, stop)
				r := <-pinned
				named(t, r.err, o)
				assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
				if tc.want == nil {
					require.ErrorIs(t, r.err, framework.ErrSessionLost)
					require.NoError(t, (<-free).err, "it goes on in the next session")
					assert.Equal(t, 1, o.applied(s))
					return
				}
				require.ErrorIs(t, r.err, tc.want)
				r = <-free
				named(t, r.err, o)
				require.ErrorIs(t, r.err, tc.want)
				assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
				assert.Zero(t, o.applied(s))
			})
		})
	}
}

// A view that is pinned to a session does not sit out the pause before an attempt that
// can only fail.
func TestPinnedOperationEndsWithItsSessionInThePauseBetweenAttempts(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, func(cfg *framework.Config) { cfg.Retry = retry.Constant(time.Hour) })
		s.On(zktest.OpSetData, "/").Always().Fail(zktest.ThrottledOp)
		call := startErr(func() error {
			_, err := c.In(c.Session()).Set(t.Context(), "/", nil, framework.AnyVersion)
			return err
		})
		time.Sleep(time.Second)
		s.ExpireSession(c.Session().ID())
		r := <-call
		require.ErrorIs(t, r.err, framework.ErrSessionExpired)
		assert.Equal(t, framework.Failed, framework.OutcomeOf(r.err))
		assert.Less(t, r.took, timeout)
	})
}

// An answer counts also if no caller waits for it any more.
func TestLateAnswerThatTheSessionHasExpired(t *testing.T) {
	forEachOperation(t, func(t *testing.T, s *zktest.Server, c *framework.Client, o operation) {
		session := c.Session()
		s.SetFaults(func(call zktest.Call) zktest.Action {
			switch {
			case call.Session != session.ID() || call.Op != o.op || call.Path == "/":
			case call.Phase == zktest.PhaseBeforeApply:
				return zktest.Delay(time.Second)
			case call.Phase == zktest.PhaseAfterApply:
				return zktest.Fail(zktest.SessionExpired)
			}
			return zktest.Pass
		})
		require.ErrorIs(t, o.call(within(t, 500*time.Millisecond), c), errStopped)
		require.NoError(t, session.Err())
		time.Sleep(time.Second)
		assert.ErrorIs(t, session.Err(), framework.ErrSessionExpired)
	})
}
