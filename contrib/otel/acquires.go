package zkotel

import (
	"context"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// acquires is what metrics need of the acquires of a lock, however they end.
type acquires struct {
	waiting atomic.Int64
	observe metric.ObserveOption
	record  []metric.RecordOption
}

func newAcquires(l lock) *acquires {
	o := l.with()
	return &acquires{observe: o, record: []metric.RecordOption{o}}
}

// An ending is how acquires of a lock have ended.
type ending struct {
	lock
	outcome string
}

func newWaits(e ending) []metric.RecordOption {
	return []metric.RecordOption{e.with(outcomeKey.String(e.outcome))}
}

func (t *Telemetry) acquireStarted(ctx context.Context, a framework.AcquireInfo) context.Context {
	t.acquires.of(t.lockOf(a.Path, a.Recipe)).waiting.Add(1)
	attributes := []attribute.KeyValue{pathKey.String(a.Path), recipeKey.String(a.Recipe), permitsKey.Int(a.Permits)}
	if a.Lock != a.Path {
		attributes = append(attributes, lockKey.String(a.Lock))
	}
	ctx, _ = t.tracer.Start(ctx, "acquire "+a.Recipe, trace.WithAttributes(attributes...))
	return ctx
}

func (t *Telemetry) acquireEnded(ctx context.Context, e framework.AcquireEnd) {
	outcome, l := labels.Acquire(ctx, e), t.lockOf(e.Path, e.Recipe)
	all := t.acquires.of(l)
	all.waiting.Add(-1)
	t.instruments.wait.Record(ctx, e.Waited.Seconds(), t.waits.of(ending{l, outcome})...)
	if e.Ahead >= 0 {
		t.instruments.ahead.Record(ctx, int64(e.Ahead), all.record...)
	}
	if e.HandOver > 0 {
		t.instruments.handOver.Record(ctx, e.HandOver.Seconds(), all.record...)
	}
	endAcquire(trace.SpanFromContext(ctx), outcome, e)
}

func endAcquire(span trace.Span, outcome string, e framework.AcquireEnd) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(outcomeKey.String(outcome), waitKey.Float64(e.Waited.Seconds()))
	if e.Ahead >= 0 {
		span.SetAttributes(aheadKey.Int(e.Ahead))
	}
	if e.HandOver > 0 {
		span.SetAttributes(handOverKey.Float64(e.HandOver.Seconds()))
	}
	if e.Reentered {
		span.SetAttributes(reenteredKey.Bool(true))
	}
	if e.Err != nil {
		fail(span, outcome, e.Err)
	}
}
