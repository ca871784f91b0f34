package zkotel

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// holds is what metrics need of the holds of a lock.
type holds struct {
	held    atomic.Int64
	observe metric.ObserveOption
	record  []metric.RecordOption
	add     []metric.AddOption
	losses  map[string][]metric.AddOption // by reason
}

// newHolds has a count of 0 for each way in which a hold can fail from the first hold
// on: the increase from no series to 1 would not be seen.
func (t *Telemetry) newHolds(l lock) *holds {
	o := l.with()
	h := &holds{observe: o, record: []metric.RecordOption{o}, add: []metric.AddOption{o}, losses: map[string][]metric.AddOption{}}
	t.instruments.releaseFailures.Add(context.Background(), 0, h.add...)
	for _, reason := range labels.Losses() {
		h.losses[reason] = []metric.AddOption{l.with(reasonKey.String(reason))}
		t.instruments.losses.Add(context.Background(), 0, h.losses[reason]...)
	}
	return h
}

// startKey is the key of when a hold started, in its context.
type startKey struct{}

func (t *Telemetry) holdStarted(ctx context.Context, h framework.HoldInfo) context.Context {
	t.holds.of(t.lockOf(h.Path, h.Recipe)).held.Add(1)
	attributes := []attribute.KeyValue{
		pathKey.String(h.Path), recipeKey.String(h.Recipe), permitsKey.Int(h.Permits),
		nodeKey.String(h.Node), tokenKey.Int64(h.Token), sessionKey.String(sessionName(h.Session)),
	}
	if h.Lock != h.Path {
		attributes = append(attributes, lockKey.String(h.Lock))
	}
	start := time.Now()
	ctx, _ = t.tracer.Start(ctx, "hold "+h.Recipe, trace.WithTimestamp(start), trace.WithAttributes(attributes...))
	return context.WithValue(ctx, startKey{}, start)
}

func (t *Telemetry) holdEnded(ctx context.Context, e framework.HoldEnd) {
	all := t.holds.of(t.lockOf(e.Path, e.Recipe))
	all.held.Add(-1)
	t.instruments.hold.Record(ctx, e.Held.Seconds(), all.record...)
	how := labels.Hold(e.Err)
	lost, isLost := all.losses[how]
	switch {
	case isLost:
		t.instruments.losses.Add(ctx, 1, lost...)
	case e.Err != nil:
		t.instruments.releaseFailures.Add(ctx, 1, all.add...)
	}
	endHold(ctx, how, isLost, e)
}

// endHold ends the span when the hold was over, which may be long before its observers
// are notified: those of a release are when the znode is gone.
func endHold(ctx context.Context, how string, isLost bool, e framework.HoldEnd) {
	span := trace.SpanFromContext(ctx)
	start, _ := ctx.Value(startKey{}).(time.Time)
	over := trace.WithTimestamp(start.Add(e.Held))
	defer span.End(over)
	if !span.IsRecording() || e.Err == nil {
		return
	}
	if isLost {
		span.SetAttributes(reasonKey.String(how))
		span.AddEvent("zkrecipes.lost", over, trace.WithAttributes(reasonKey.String(how)))
	}
	fail(span, how, e.Err)
}

// sessionName writes the id of a session as ZooKeeper does.
func sessionName(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
