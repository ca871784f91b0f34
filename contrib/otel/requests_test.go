package zkotel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// The requests of an acquire are children of its span, and those of other operations of
// the span in their context. Without one there are none.
func TestRequestSpans(t *testing.T) {
	inWorld(t, zkotel.Config{Requests: true}, func(t *testing.T, w *conformance.World, b *backend) {
		c := b.client(w, "a")
		require.Empty(t, b.spans.Started(), "connecting")
		_, _, err := c.Get(t.Context(), "/")
		require.NoError(t, err)
		require.Empty(t, b.spans.Started(), "without a span in the context")

		ctx, caller := b.tracer.Start(t.Context(), "request")
		w.Server.On(zktest.OpGetData, "/none").Delay(time.Second)
		sent := time.Now()
		_, _, err = c.Get(ctx, "/none")
		require.Error(t, err)
		get := b.one(t, "zookeeper get")
		requireChild(t, get, caller.SpanContext())
		require.Equal(t, trace.SpanKindClient, get.SpanKind())
		require.Equal(t, sent, get.StartTime().Local())
		require.Equal(t, sent.Add(time.Second), get.EndTime().Local())
		require.Equal(t, codes.Error, get.Status().Code)
		require.Equal(t, map[string]any{
			"operation": "get", "path": "/none", "session": sessionOf(c), "attempt": int64(1), "outcome": "failed", "error.type": "failed",
		}, attributes(get.Attributes()))

		held := w.StartWith(ctx, newMutex(t, c), time.Minute).Granted()
		require.NoError(t, held.Release())
		caller.End()
		acquire := b.one(t, "acquire mutex")
		creates := b.ended("zookeeper create")
		require.NotEmpty(t, creates)
		for _, create := range creates {
			requireChild(t, create, acquire.SpanContext())
		}
	})
}

// By default requests are counted, but not traced. Each attempt counts.
func TestRequestsAreCounted(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		c := b.client(w, "a")
		ctx, caller := b.tracer.Start(t.Context(), "request")
		w.Server.On(zktest.OpGetData, "/").Before().Cut()
		_, _, err := c.Get(ctx, "/")
		require.NoError(t, err)
		w.Server.On(zktest.OpGetData, "/").Delay(100 * time.Millisecond)
		_, _, err = c.Get(ctx, "/")
		require.NoError(t, err)
		caller.End()
		require.Len(t, b.spans.Ended(), 1)
		metrics := b.metrics(t)
		require.InDelta(t, .1, metrics["request.duration"]["operation=get,outcome=done"], .001)
		attempts := 0. // how many fail while there is no connection is chance
		for _, m := range b.collect(t) {
			if m.Name == "zkrecipes.request.duration" {
				for _, p := range points(t, m) {
					attempts += float64(p.count)
				}
			}
		}
		require.Greater(t, attempts, 2.)
		require.Equal(t, map[string]float64{"operation=get": attempts - 2}, metrics["request.retries"])
	})
}
