package leader_test

import (
	"context"
	"errors"
	"fmt"
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
)

var errWork = errors.New("the work failed")

func TestLeadReturnsTheCauseOfItsContext(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o, shutdown := newOffice(), errors.New("shutting down")
		leading := lead(w, newElection(t, w.Client("a"), "a"), o.until("a", time.Second))
		waiting := lead(w, newElection(t, w.Client("b"), "b"), o.until("b", time.Second))
		resting := lead(w, newElection(t, w.Client("c"), "c", leader.WithBackoff(retry.Constant(time.Hour))), func(context.Context, *lease.Lease) error { return errWork })
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

// A deadline that passes during a campaign is no timeout of an Acquire: this candidate
// may have led before. The last failure of the campaign is not hidden.
func TestLeadReturnsItsDeadline(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		o, ended := newOffice(), make(chan error)
		for _, id := range []string{"a", "b", "c"} { // one leads, two wait
			e := newElection(t, w.Client(id), id)
			go func() { ended <- e.Lead(ctx, o.until(id, 0)) }()
		}
		o.next(t)
		w.Server.Partition("c", true)
		unreachable := 0
		for range 3 {
			err := <-ended
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, lease.ErrTimeout)
			text, _, failed := strings.Cut(err.Error(), "; last failure: ")
			require.Equal(t, "lead "+path+": context deadline exceeded", text)
			require.Equal(t, failed, errors.Is(err, framework.ErrNotConnected), "%v", err)
			if failed {
				unreachable++
			}
		}
		require.Equal(t, 1, unreachable, "c was cut off")
	})
}

// ErrStop ends Lead, with the error that wraps it.
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
		require.ErrorIs(t, err, lease.ErrLost, "the term was lost before fn returned")
		require.NotErrorIs(t, err, leader.ErrStop)

		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, e.Lead(ctx, func(context.Context, *lease.Lease) error {
			cancel()
			return leader.ErrStop
		}), "what was done is done")
	})
}

// A function that returns nil at once does not cause a request each moment.
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
		require.GreaterOrEqual(t, len(long.leaders()), 8, "no pause after a long term")
	})
}

// The next term does not begin before fn has returned.
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
		require.NoError(t, term.Err(), "the term is valid while fn ends")
		require.Equal(t, []string{"a"}, o.leaders())
		next := o.next(t)
		require.InDelta(t, 20*time.Second, time.Since(stopped), float64(time.Second))
		require.ErrorIs(t, term.Err(), lease.ErrReleased)
		require.Greater(t, next.Token(), term.Token())
		require.ErrorIs(t, a.result(), context.Canceled)
		o.check(t)
	})
}

// fn is called once for each term, and not for a candidate that never leads.
func TestFunctionsAlternate_Users20(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o, never := newForcedOffice(w), newForcedOffice(w)
		a := w.Client("a")
		leading := lead(w, newElection(t, a, "a"), o.until("a", 700*time.Millisecond))
		other := w.Client("b")
		waiting := lead(w, newElection(t, other, "b"), never.until("b", 0))
		for range 5 {
			o.next(t)
			w.Expire(other) // so that it joins behind
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

// On a request for revocation the context of fn ends, fn hands over in order, and the
// candidate joins at the end of the queue.
func TestLeaderResignsOnRequest_Curator171(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		var causes []error
		handOver := func(ctx context.Context, term *lease.Lease) error {
			o.enter("a", term)
			defer o.leave(term)
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			time.Sleep(2 * time.Second)
			require.NoError(t, term.Err(), "the term is valid meanwhile")
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
		require.Len(t, children(w), 2, "the candidate campaigns again")
		require.ErrorIs(t, a.stop(), context.Canceled)
		o.check(t)
	})
}

// With a maximum hold time leadership rotates.
func TestMaxHoldRotates(t *testing.T) {
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

// Lead with the context of a term runs as a part of that term.
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
		require.ErrorIs(t, <-done, lease.ErrLost, "the context of a lost term cannot lead again")
		require.ErrorIs(t, term.Release(), lease.ErrLost)
	})
}

// cancelAt is a log handler that ends a context at the first record with that text.
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

// The context of Lead ends between the grant and the call of fn, which is then not
// called.
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
