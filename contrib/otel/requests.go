package zkotel

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// A request is what the attributes of a metric tell about one.
type request struct{ operation, outcome string }

// requests is what metrics need of such requests.
type requests struct {
	record []metric.RecordOption
	retry  []metric.AddOption // whatever their outcome
}

func newRequests(r request) requests {
	operation := operationKey.String(r.operation)
	return requests{
		record: []metric.RecordOption{option(operation, outcomeKey.String(r.outcome))},
		retry:  []metric.AddOption{option(operation)},
	}
}

func (t *Telemetry) requestEnded(ctx context.Context, r framework.Request) {
	outcome := framework.OutcomeOf(r.Err).String()
	all := t.requests.of(request{r.Op, outcome})
	t.instruments.request.Record(ctx, r.Duration.Seconds(), all.record...)
	if r.Attempt > 1 {
		t.instruments.retries.Add(ctx, 1, all.retry...)
	}
	if t.requestSpans && trace.SpanContextFromContext(ctx).IsValid() {
		t.traceRequest(ctx, outcome, r)
	}
}

// traceRequest makes a span of what has ended.
func (t *Telemetry) traceRequest(ctx context.Context, outcome string, r framework.Request) {
	now := time.Now()
	_, span := t.tracer.Start(ctx, "zookeeper "+r.Op, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(now.Add(-r.Duration)))
	defer span.End(trace.WithTimestamp(now))
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(operationKey.String(r.Op), pathKey.String(r.Path), attemptKey.Int(r.Attempt), outcomeKey.String(outcome))
	if r.Session != 0 {
		span.SetAttributes(sessionKey.String(sessionName(r.Session)))
	}
	if r.Err != nil {
		fail(span, outcome, r.Err)
	}
}
