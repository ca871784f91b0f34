package zkotel_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/labels"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// Each loss is the end of the span, with its reason, and is counted. All reasons have a
// count of 0 from the first hold on.
func TestLosses(t *testing.T) {
	for reason, lose := range map[string]func(w *conformance.World, c *framework.Client, held *lease.Lease){
		"deleted": func(w *conformance.World, _ *framework.Client, held *lease.Lease) {
			w.Remove(w.Named("other"), held.Path())
		},
		"max-hold":        func(w *conformance.World, _ *framework.Client, _ *lease.Lease) { w.After(time.Minute) },
		"session-expired": func(w *conformance.World, c *framework.Client, _ *lease.Lease) { w.Expire(c) },
		"trust-expired":   func(w *conformance.World, _ *framework.Client, _ *lease.Lease) { w.Server.Partition("a", true) },
		"suspended":       func(w *conformance.World, _ *framework.Client, _ *lease.Lease) { w.Server.Partition("a", true) },
		"closed":          func(_ *conformance.World, c *framework.Client, _ *lease.Lease) { _ = c.Close() },
	} {
		t.Run(reason, func(t *testing.T) {
			inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
				c := b.client(w, "a", func(cfg *framework.Config) { cfg.StopOnSuspend = reason == "suspended" })
				ctx, caller := b.tracer.Start(t.Context(), "request")
				held := w.StartWith(ctx, newMutex(t, c, mutex.WithMaxHold(time.Minute)), 0).Granted()
				requireLosses(t, b, "")
				w.After(time.Second)
				lose(w, c, held)
				<-held.Done()
				w.Settle()
				span := b.one(t, "hold mutex")
				caller.End()
				requireChild(t, span, caller.SpanContext())
				require.Equal(t, sdktrace.Status{Code: codes.Error, Description: held.Err().Error()}, span.Status())
				got := attributes(span.Attributes())
				require.Equal(t, reason, got["reason"])
				require.Equal(t, reason, got["error.type"])
				require.Len(t, span.Events(), 1)
				event := span.Events()[0]
				require.Equal(t, "zkrecipes.lost", event.Name)
				require.Equal(t, map[string]any{"reason": reason}, attributes(event.Attributes))
				require.Equal(t, span.EndTime(), event.Time)
				var loss *lease.LossError
				require.ErrorAs(t, held.Err(), &loss)
				require.Equal(t, loss.Held, span.EndTime().Sub(span.StartTime()))
				requireLosses(t, b, reason)
			})
		})
	}
}

// Of a multi-lock each lock has its spans. If one is lost, so are the others.
func TestMemberLost(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		c := b.client(w, "a")
		var both []lease.Acquirer
		for _, path := range []string{"/locks/a", "/locks/b"} {
			m, err := mutex.New(c, path)
			require.NoError(t, err)
			both = append(both, m)
		}
		all, err := multilock.New(both)
		require.NoError(t, err)
		held := w.Acquire(all)
		w.Remove(w.Named("other"), held.Path())
		<-held.Done()
		w.Settle()
		reasons := map[any]any{}
		for _, s := range b.ended("hold mutex") {
			got := attributes(s.Attributes())
			reasons[got["path"]] = got["reason"]
		}
		require.Len(t, b.ended("acquire mutex"), 2)
		require.Equal(t, map[any]any{"/locks/a": "deleted", "/locks/b": "member-lost"}, reasons)
	})
}

// The reasons that a test of one client does not come by are told apart as well.
func TestReasons(t *testing.T) {
	reasons := map[string]error{
		"deleted": lease.ErrDeleted, "max-hold": lease.ErrMaxHold, "suspended": lease.ErrSuspended, "member-lost": lease.ErrMemberLost,
		"closed": framework.ErrClosed, "no-auth": framework.ErrNoAuth, "session-expired": framework.ErrSessionExpired,
		"trust-expired": framework.ErrTrustExpired, "session-replaced": framework.ErrSessionReplaced,
		"session-lost": framework.ErrSessionLost, "other": errors.New("another"),
	}
	require.ElementsMatch(t, labels.Losses(), slices.Collect(maps.Keys(reasons)))
	for reason, err := range reasons {
		b := newBackend(t, zkotel.Config{})
		end := framework.HoldEnd{HoldInfo: framework.HoldInfo{Path: path, Recipe: "mutex"}, Held: time.Minute, Err: &lease.LossError{Reason: err}}
		hold(b.Observer(), end)
		span := b.one(t, "hold mutex")
		require.Equal(t, reason, attributes(span.Attributes())["reason"])
		require.Equal(t, span.StartTime().Add(time.Minute), span.EndTime())
		require.Equal(t, span.EndTime(), span.Events()[0].Time)
		requireLosses(t, b, reason)
	}
}

// requireLosses requires one loss for that reason, none if that is empty.
func requireLosses(t *testing.T, b *backend, reason string) {
	t.Helper()
	want := map[string]float64{}
	for _, other := range labels.Losses() {
		want["path_template=other,reason="+other+",recipe=mutex"] = 0
	}
	if reason != "" {
		want["path_template=other,reason="+reason+",recipe=mutex"] = 1
	}
	metrics := b.metrics(t)
	require.Equal(t, want, metrics["losses"])
	require.Equal(t, map[string]float64{"path_template=other,recipe=mutex": 0}, metrics["release.failures"])
}

// A release that fails is no loss.
func TestReleaseThatFails(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		c := b.client(w, "a")
		held := w.Acquire(newMutex(t, c))
		w.Server.On(zktest.OpDelete, path).Always().Fail(zktest.NoAuth)
		err := held.Release()
		require.ErrorIs(t, err, framework.ErrNoAuth)
		span := b.one(t, "hold mutex")
		require.Equal(t, sdktrace.Status{Code: codes.Error, Description: err.Error()}, span.Status())
		require.Equal(t, "release-failed", attributes(span.Attributes())["error.type"])
		require.Empty(t, span.Events())
		metrics := b.metrics(t)
		require.Equal(t, map[string]float64{"path_template=other,recipe=mutex": 1}, metrics["release.failures"])
		for attributes, n := range metrics["losses"] {
			require.Zero(t, n, attributes)
		}
	})
}
