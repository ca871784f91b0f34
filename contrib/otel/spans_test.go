package zkotel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// The spans of a hold and of its acquire are siblings below the caller's, and that of
// the work is a child of the hold's.
func TestSpansOfAHold(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		other, c := w.Client("other"), b.client(w, "a")
		theirs := w.Acquire(newMutex(t, other))
		ctx, caller := b.tracer.Start(t.Context(), "request")
		at := w.StartWith(ctx, newMutex(t, c), time.Minute)
		const idle = 2 * conformance.SessionTimeout / 3 // so that the hand-over needs an answer
		w.After(idle)
		const slow = 20 * time.Millisecond
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && c.Phase == zktest.PhaseAfterApply {
				return zktest.Delay(slow)
			}
			return zktest.Pass
		})
		require.NoError(t, theirs.Release())
		held := at.Granted()
		w.Server.SetFaults(nil)
		granted := time.Now()
		_, work := b.tracer.Start(held.Context(), "work")
		work.End()
		w.After(3 * time.Second)
		require.NoError(t, held.Release())
		caller.End()

		acquire, hold := b.one(t, "acquire mutex"), b.one(t, "hold mutex")
		requireChild(t, acquire, caller.SpanContext())
		requireChild(t, hold, caller.SpanContext())
		requireChild(t, b.one(t, "work"), hold.SpanContext())
		require.Equal(t, trace.SpanKindInternal, acquire.SpanKind())
		require.Equal(t, trace.SpanKindInternal, hold.SpanKind())
		require.Equal(t, codes.Unset, acquire.Status().Code)
		require.Equal(t, codes.Unset, hold.Status().Code)
		require.Equal(t, granted.Add(-at.Took), acquire.StartTime().Local())
		require.Equal(t, granted, acquire.EndTime().Local())
		require.Equal(t, granted, hold.StartTime().Local())
		require.Equal(t, granted.Add(3*time.Second), hold.EndTime().Local())
		got := attributes(acquire.Attributes())
		require.InDelta(t, (at.Took - idle).Seconds(), got["hand_over"], .001)
		delete(got, "hand_over")
		require.Equal(t, map[string]any{
			"path": path, "recipe": "mutex", "permits": int64(1), "ahead": int64(1), "outcome": "granted", "wait": at.Took.Seconds(),
		}, got)
		require.Equal(t, map[string]any{
			"path": path, "recipe": "mutex", "permits": int64(1), "node": held.Path(), "token": int64(held.Token()),
			"session": sessionOf(c),
		}, attributes(hold.Attributes()))
	})
}

// A release takes a while, and is not part of the hold.
func TestHoldEndsWithRelease(t *testing.T) {
	for name, release := range map[string]func(*lease.Lease) error{"release": (*lease.Lease).Release, "async": (*lease.Lease).ReleaseAsync} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
				held := w.Acquire(newMutex(t, b.client(w, "a")))
				w.After(3 * time.Second)
				w.Server.On(zktest.OpDelete, path).Delay(time.Second)
				require.NoError(t, release(held))
				w.After(2 * time.Second)
				hold := b.one(t, "hold mutex")
				require.Equal(t, 3*time.Second, hold.EndTime().Sub(hold.StartTime()))
				require.InDelta(t, 3, b.metrics(t)["hold.duration"]["path_template=other,recipe=mutex"], 0)
			})
		})
	}
}

// Without a span of the caller each of the two begins a trace.
func TestNoCallerSpan(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		held := w.Acquire(newMutex(t, b.client(w, "a")))
		require.True(t, trace.SpanContextFromContext(held.Context()).IsSampled())
		require.NoError(t, held.Release())
		acquire, hold := b.one(t, "acquire mutex"), b.one(t, "hold mutex")
		require.False(t, acquire.Parent().IsValid())
		require.False(t, hold.Parent().IsValid())
		require.NotEqual(t, acquire.SpanContext().TraceID(), hold.SpanContext().TraceID())
	})
}

// What the caller does not sample is not traced. Metrics count it nevertheless.
func TestUnsampledCaller(t *testing.T) {
	inWorld(t, zkotel.Config{Requests: true}, func(t *testing.T, w *conformance.World, b *backend) {
		remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Remote: true})
		ctx := trace.ContextWithSpanContext(t.Context(), remote)
		held := w.StartWith(ctx, newMutex(t, b.client(w, "a")), time.Minute).Granted()
		require.Equal(t, remote.TraceID(), trace.SpanContextFromContext(held.Context()).TraceID())
		_, work := b.tracer.Start(held.Context(), "work")
		work.End()
		require.NoError(t, held.Release())
		require.Empty(t, b.spans.Started())
		require.Contains(t, b.metrics(t)["hold.duration"], "path_template=other,recipe=mutex")
	}, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
}

func TestAcquiresThatFail(t *testing.T) {
	errMine := errors.New("cancelled by the test")
	for name, tc := range map[string]struct {
		timeout time.Duration
		end     func(c *framework.Client, at *conformance.Attempt)
	}{
		"timeout":  {time.Second, func(*framework.Client, *conformance.Attempt) {}},
		"canceled": {lease.Forever, func(_ *framework.Client, at *conformance.Attempt) { at.Cancel(errMine) }},
		"closed":   {lease.Forever, func(c *framework.Client, _ *conformance.Attempt) { _ = c.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
				theirs, c := w.Acquire(newMutex(t, w.Client("other"))), b.client(w, "a")
				ctx, caller := b.tracer.Start(t.Context(), "request")
				at := w.StartWith(ctx, newMutex(t, c), tc.timeout)
				require.InDelta(t, 1, b.metrics(t)["acquire.waiting"]["path_template=other,recipe=mutex"], 0)
				tc.end(c, at)
				err := at.Failed()
				caller.End()
				span := b.one(t, "acquire mutex")
				requireChild(t, span, caller.SpanContext())
				require.Equal(t, sdktrace.Status{Code: codes.Error, Description: err.Error()}, span.Status())
				got := attributes(span.Attributes())
				require.Equal(t, name, got["outcome"])
				require.Equal(t, name, got["error.type"])
				require.Equal(t, int64(1), got["ahead"])
				require.Empty(t, b.ended("hold mutex"))
				require.NoError(t, theirs.Release())
			})
		})
	}
}

// A re-entry is an acquire below the hold, also if it is by a fork of the context, and
// has no hold of its own.
func TestReentry(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		m := newMutex(t, b.client(w, "a"))
		held := w.Acquire(m)
		inner := w.StartWith(held.Context(), m, time.Minute).Granted()
		again := b.ended("acquire mutex")[1]
		forked := w.StartWith(lease.Fork(inner.Context()), m, time.Minute).Granted()
		require.NoError(t, held.Release())
		require.NoError(t, inner.Release())
		require.Empty(t, b.ended("hold mutex"), "the fork holds")
		require.NoError(t, forked.Release())

		hold := b.one(t, "hold mutex")
		require.Len(t, b.ended("acquire mutex"), 3)
		for _, again := range append(b.ended("acquire mutex")[2:], again) {
			requireChild(t, again, hold.SpanContext())
			require.Equal(t, map[string]any{
				"path": path, "recipe": "mutex", "permits": int64(1), "outcome": "re-entered", "wait": 0., "reentered": true,
			}, attributes(again.Attributes()))
		}
		metrics := b.metrics(t)
		require.InDelta(t, 0, metrics["acquire.wait"]["outcome=re-entered,path_template=other,recipe=mutex"], 0)
		require.InDelta(t, 0, metrics["holds"]["path_template=other,recipe=mutex"], 0)
	})
}

func TestPermits(t *testing.T) {
	inWorld(t, zkotel.Config{Paths: []string{"/locks/*"}}, func(t *testing.T, w *conformance.World, b *backend) {
		s, err := semaphore.New(b.client(w, "a"), path, 5)
		require.NoError(t, err)
		three, two := w.Acquire(s.Weight(3)), w.Acquire(s.Weight(2))
		require.InDelta(t, 2, b.metrics(t)["holds"]["path_template=/locks/*,recipe=semaphore"], 0)
		require.NoError(t, three.Release())
		require.NoError(t, two.Release())
		for _, name := range []string{"acquire semaphore", "hold semaphore"} {
			spans := b.ended(name)
			require.Len(t, spans, 2)
			require.Equal(t, int64(3), attributes(spans[0].Attributes())["permits"])
			require.Equal(t, int64(2), attributes(spans[1].Attributes())["permits"])
		}
	})
}

// Each term of a leader is a hold with the span of Lead's caller as parent.
func TestLeaderTerms(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		c := b.client(w, "a")
		e, err := leader.New(c, path)
		require.NoError(t, err)
		ctx, caller := b.tracer.Start(t.Context(), "service")
		ctx, cancel := context.WithCancel(ctx)
		led := make(chan error, 1)
		go func() {
			led <- e.Lead(ctx, func(ctx context.Context, _ *lease.Lease) error {
				_, work := b.tracer.Start(ctx, "work")
				defer work.End()
				<-ctx.Done()
				return nil
			})
		}()
		w.After(time.Second)
		w.Expire(c)
		w.After(10 * time.Second)
		cancel()
		require.ErrorIs(t, <-led, context.Canceled)
		caller.End()
		terms, work := b.ended("hold leader"), b.ended("work")
		require.Len(t, terms, 2)
		require.Len(t, work, 2)
		for i, term := range terms {
			requireChild(t, term, caller.SpanContext())
			requireChild(t, work[i], term.SpanContext())
		}
		require.Equal(t, "session-expired", attributes(terms[0].Attributes())["reason"])
		require.Equal(t, codes.Unset, terms[1].Status().Code)
	})
}

// Of a recipe with several locks the spans have the path of both, and metrics that of the recipe.
func TestLockOfSeveral(t *testing.T) {
	inWorld(t, zkotel.Config{Paths: []string{path}}, func(t *testing.T, w *conformance.World, b *backend) {
		locks, err := striped.New(b.client(w, "a"), path, 8)
		require.NoError(t, err)
		held := w.Acquire(locks.For("key"))
		require.NoError(t, held.Release())
		for _, name := range []string{"acquire mutex", "hold mutex"} {
			got := attributes(b.one(t, name).Attributes())
			require.Equal(t, path, got["path"])
			require.Regexp(t, "^"+path+"/.", got["lock"])
		}
	})
}
