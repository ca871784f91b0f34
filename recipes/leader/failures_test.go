package leader_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An error of fn is a failure, unless fn stopped because its context ended, or the term
// was lost.
func TestWhatIsAFailure(t *testing.T) {
	type term struct {
		*lease.Lease
		ctx      context.Context //nolint:containedctx // that of the one call
		operator *framework.Client
	}
	lose := func(l term) {
		require.NoError(t, l.operator.Delete(context.Background(), l.Path(), framework.AnyVersion))
		<-l.ctx.Done()
	}
	ask := func(l term) {
		require.NoError(t, lease.RequestRevocation(context.Background(), l.operator, l.Path()))
		<-l.ctx.Done()
	}
	for name, c := range map[string]struct {
		fn     func(l term) error
		failed error // nil: it is none
	}{
		"nothing":                      {func(term) error { return nil }, nil},
		"lost, returns the cause":      {func(l term) error { lose(l); return context.Cause(l.ctx) }, nil},
		"lost, returns ctx.Err":        {func(l term) error { lose(l); return l.ctx.Err() }, nil},
		"lost, and fails":              {func(l term) error { lose(l); return errWork }, nil},
		"requested, returns the cause": {func(l term) error { ask(l); return context.Cause(l.ctx) }, nil},
		"requested, returns ctx.Err":   {func(l term) error { ask(l); return l.ctx.Err() }, nil},
		"released by itself":           {func(l term) error { return l.Release() }, nil},
		"work":                         {func(term) error { return errWork }, errWork},
		"requested, and fails":         {func(l term) error { ask(l); return errWork }, errWork},
		"cancelled by itself":          {func(term) error { return context.Canceled }, context.Canceled},
		"not requested, but returned":  {func(term) error { return leader.ErrRevocationRequested }, leader.ErrRevocationRequested},
		"not lost, but returned":       {func(term) error { return lease.ErrLost }, lease.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				var log strings.Builder
				a := w.Client("a", func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				operator := w.Client("operator")
				terms := 0
				err := newElection(t, a, "a", leader.WithBackoff(retry.None())).Lead(t.Context(), func(ctx context.Context, l *lease.Lease) error {
					terms++
					err := c.fn(term{l, ctx, operator})
					if terms == 6 {
						return errors.Join(leader.ErrStop, err)
					}
					return err
				})
				require.NoError(t, a.Close()) // it logs no more
				if c.failed != nil {
					require.ErrorIs(t, err, c.failed)
					require.Equal(t, 1, terms)
					require.Equal(t, 1, strings.Count(log.String(), `level=WARN msg="resigned after a failure"`))
					return
				}
				require.ErrorIs(t, err, leader.ErrStop)
				require.Equal(t, 6, terms)
				require.NotContains(t, log.String(), "failure")
			})
		})
	}
}

// A term that fn released, which it must not, was not lost.
func TestTermReleasedByTheFunctionIsNotLost(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		require.NoError(t, newElection(t, w.Client("a"), "a").Lead(t.Context(), func(_ context.Context, term *lease.Lease) error {
			require.NoError(t, term.Release())
			return leader.ErrStop
		}))
		require.Empty(t, children(w))
	})
}

// Temporary errors of the framework do not end Lead.
func TestCampaignFailsForAWhile(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		a := w.Client("a", func(cfg *framework.Config) { cfg.Retry = retry.None() })
		refused := w.Server.On(zktest.OpCreate, path).Always().Fail(zktest.ThrottledOp)
		lead(w, newElection(t, a, "a"), o.until("a", 0))
		w.After(time.Minute)
		require.Empty(t, o.leaders())
		require.Less(t, w.Server.Count(zktest.OpCreate), 40)
		refused.Remove()
		o.next(t)

		ends := lead(w, newElection(t, w.Client("b", func(cfg *framework.Config) { cfg.Retry = retry.None() }), "b",
			leader.WithBackoff(retry.None())), o.until("b", 0))
		w.After(time.Second)
		require.True(t, ends.running())
		require.ErrorIs(t, ends.stop(), context.Canceled)
	})
}
