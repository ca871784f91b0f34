package leader_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

var errWork = errors.New("the work failed")

func TestLeadReturnsTheCauseOfItsContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o, shutdown := newOffice(), errors.New("shutting down")
		leading := lead(w, newElection(t, w.Client("a"), "a"), o.until("a", time.Second))
		waiting := lead(w, newElection(t, w.Client("b"), "b"), o.until("b", time.Second))
		resting := lead(w, newElection(t, w.Client("c"), "c", leader.WithBackoff(retry.Forever(time.Hour))), func(context.Context, *lease.Lease) error { return errWork })
		for _, c := range []*campaign{waiting, leading, resting} {
			w.After(10 * time.Second)
			require.True(t, c.running())
			c.cancel(shutdown)
			err := c.result()
			require.ErrorIs(t, err, shutdown)
			require.ErrorContains(t, err, "lead")
			require.ErrorContains(t, err, path)
		}
		w.Settle()
		require.Empty(t, children(w))
		require.Equal(t, []string{"a"}, o.leaders())
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(shutdown)
		require.ErrorIs(t, newElection(t, w.Client("d"), "d").Lead(ended, o.until("d", 0)), shutdown)
		require.Equal(t, []string{"a"}, o.leaders())
	})
}

// ErrStop ends Lead, with what fn wants to say.
func TestErrStop(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		e := newElection(t, c, "a")
		require.NoError(t, e.Lead(t.Context(), func(context.Context, *lease.Lease) error { return leader.ErrStop }))
		require.Empty(t, children(w))

		err := e.Lead(t.Context(), func(context.Context, *lease.Lease) error { return fmt.Errorf("disk full: %w", leader.ErrStop) })
		require.ErrorIs(t, err, leader.ErrStop)
		require.ErrorContains(t, err, "disk full")
		require.Empty(t, children(w))

		err = e.Lead(t.Context(), func(ctx context.Context, _ *lease.Lease) error {
			w.Expire(c)
			<-ctx.Done()
			return leader.ErrStop
		})
		require.ErrorIs(t, err, lease.ErrLost, "it was not alone to the end")
		require.NotErrorIs(t, err, leader.ErrStop)

		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, e.Lead(ctx, func(context.Context, *lease.Lease) error {
			cancel()
			return leader.ErrStop
		}), "what was done is done")
	})
}

// One that has nothing to do does not keep the ensemble busy.
func TestFunctionThatReturnsAtOnceDoesNotSpin(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		lead(w, newElection(t, w.Client("a"), "a"), o.during("a", 0))
		w.After(10 * time.Second)
		require.InDelta(t, 100, len(o.leaders()), 20)
		o.check(t)

		long := newOffice()
		lead(w, newElection(t, w.Client("b"), "b"), long.during("b", time.Second))
		w.After(10 * time.Second)
		require.GreaterOrEqual(t, len(long.leaders()), 8, "there is no pause after a term that has lasted")
	})
}

// The next leader does not begin before the work of this one has ended.
func TestResignsAfterTheFunctionHasReturned_CuratorR8(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		a := lead(w, newElection(t, w.Client("a"), "a"), o.until("a", 20*time.Second))
		lead(w, newElection(t, w.Client("b"), "b"), o.until("b", 0))
		term := o.next(t)
		w.After(time.Second)
		stopped := time.Now()
		a.cancel(nil)
		w.After(19 * time.Second)
		require.NoError(t, term.Err(), "it leads while it winds down")
		require.Equal(t, []string{"a"}, o.leaders())
		next := o.next(t)
		require.InDelta(t, 20*time.Second, time.Since(stopped), float64(time.Second))
		require.ErrorIs(t, term.Err(), lease.ErrReleased)
		require.Greater(t, next.Token(), term.Token())
		require.ErrorIs(t, a.result(), context.Canceled)
		o.check(t)
	})
}

// Who leads, loses and leads again is told in turn, and who never led is told nothing.
func TestFunctionsAlternate_Users20(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o, never := newForcedOffice(w), newForcedOffice(w)
		a := w.Client("a")
		leading := lead(w, newElection(t, a, "a"), o.until("a", 700*time.Millisecond))
		other := w.Client("b")
		waiting := lead(w, newElection(t, other, "b"), never.until("b", 0))
		for range 5 {
			o.next(t)
			w.Expire(other) // so that it is behind
			w.After(time.Second)
			held := w.Start(newElection(t, w.Client("c"), "c"), lease.Forever)
			require.ErrorIs(t, waiting.stop(), context.Canceled)
			waiting = lead(w, newElection(t, other, "b"), never.until("b", 0))
			w.Expire(a)
			term := held.Granted()
			require.ErrorIs(t, waiting.stop(), context.Canceled)
			require.NoError(t, term.Release())
		}
		o.next(t)
		require.ErrorIs(t, leading.stop(), context.Canceled)
		require.Empty(t, never.leaders())
		o.check(t)
	})
}

// Somebody asks the leader to give way: its context ends, it hands over in order, and
// goes to the end of the line.
func TestRevokedLeaderGivesWay_Curator171(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		var causes []error
		handOver := func(ctx context.Context, term *lease.Lease) error {
			o.enter("a", term)
			defer o.leave(term)
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			time.Sleep(2 * time.Second)
			require.NoError(t, term.Err(), "there is time to do it in order")
			require.NoError(t, term.Context().Err())
			return context.Cause(ctx)
		}
		a := lead(w, newElection(t, w.Client("a"), "a"), handOver)
		lead(w, newElection(t, w.Client("b"), "b"), o.until("b", 0))
		term := o.next(t)
		w.After(time.Second)
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Client("operator"), term.Path()))
		o.next(t)
		require.Equal(t, []string{"a", "b"}, o.leaders())
		require.ErrorIs(t, causes[0], leader.ErrRevocationRequested)
		w.After(time.Second)
		require.Len(t, children(w), 2, "it campaigns again")
		require.ErrorIs(t, a.stop(), context.Canceled)
		o.check(t)
	})
}

// Terms of a bounded length go round.
func TestMaxHoldGoesRound(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		for _, id := range []string{"a", "b", "c"} {
			lead(w, newElection(t, w.Client(id), id, leader.WithMaxHold(10*time.Second)), o.until(id, 100*time.Millisecond))
		}
		for range 9 {
			o.next(t)
		}
		log := o.leaders()
		require.Equal(t, log[:3], log[3:6])
		require.Equal(t, log[:3], log[6:9])
		o.check(t)
	})
}

// Lead with the context of a term is a part of that term.
func TestLeadWithinATerm(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		e := newElection(t, w.Client("a"), "a")
		term := w.Acquire(e)
		require.NoError(t, e.Lead(term.Context(), func(_ context.Context, inner *lease.Lease) error {
			require.Equal(t, term.Token(), inner.Token())
			return leader.ErrStop
		}))
		require.NoError(t, term.Err())
		done := make(chan error)
		go func() {
			done <- e.Lead(context.WithoutCancel(term.Context()), func(ctx context.Context, _ *lease.Lease) error {
				<-ctx.Done()
				return nil
			})
		}()
		w.After(time.Second)
		w.Remove(w.Client("operator"), term.Path())
		require.ErrorIs(t, <-done, lease.ErrLost, "a context that owns what was lost cannot lead again")
		require.ErrorIs(t, term.Release(), lease.ErrLost)
	})
}

// cancelAt is a log that ends a context with the first record of that text.
type cancelAt struct {
	slog.Handler
	text   string
	cancel context.CancelCauseFunc
}

func (c cancelAt) Enabled(context.Context, slog.Level) bool { return true }
func (c cancelAt) WithAttrs([]slog.Attr) slog.Handler       { return c }

func (c cancelAt) Handle(_ context.Context, r slog.Record) error {
	if r.Message == c.text {
		c.cancel(errWork)
	}
	return nil
}

// The context of Lead ends between the grant and the call of the function, which is
// then not called.
func TestCancelledAfterTheGrant(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := w.Client("a", func(cfg *framework.Config) {
			cfg.Logger = slog.New(cancelAt{slog.DiscardHandler, "leading", cancel})
		})
		err := newElection(t, a, "a").Lead(ctx, func(context.Context, *lease.Lease) error {
			t.Error("called with a context that has ended")
			return leader.ErrStop
		})
		require.ErrorIs(t, err, errWork)
		w.Settle()
		require.Empty(t, children(w))
	})
}
