package zkotel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name under which the tracer and the meter are known.
const scope = "github.com/zkrecipes/zkrecipes/contrib/otel"

// Config is the configuration of Telemetry. The zero value has the global providers,
// makes no difference between paths in metrics, and traces no single requests.
type Config struct {
	// TracerProvider is where spans go; nil is the global one. With that of package
	// go.opentelemetry.io/otel/trace/noop there are no traces.
	TracerProvider trace.TracerProvider
	// MeterProvider is where metrics go; nil is the global one, which should be set
	// before New. With that of go.opentelemetry.io/otel/metric/noop there are none.
	MeterProvider metric.MeterProvider
	// Paths are templates for the attribute zkrecipes.path_template of metrics, as in
	// labels.Paths: a path that a recipe was given, with chroot and namespace, is that
	// of the first that matches it, or else "other".
	Paths []string
	// Requests adds a span for each request to ZooKeeper in whose context there is a
	// span, such as that of an acquire.
	Requests bool
}

// Telemetry is the traces and metrics of any number of clients. It is safe for
// concurrent use. New makes it.
type Telemetry struct {
	tracer       trace.Tracer
	requestSpans bool
	pathOf       func(path string) string
	instruments  instruments
	callback     metric.Registration

	acquires cache[lock, *acquires]
	waits    cache[ending, []metric.RecordOption]
	holds    cache[lock, *holds]
	requests cache[request, requests]
	changes  cache[framework.State, []metric.AddOption]

	clients  [framework.Closed]atomic.Int64 // by state
	cleanups atomic.Int64                   // pending

	mu      sync.Mutex
	tracked map[*framework.Client]struct{}
}

// New returns the telemetry of clients that get its Observer. It returns a
// framework.ErrInvalidArgument for a path template that is not well formed, and the
// error of a MeterProvider that refuses a metric.
func New(cfg Config) (*Telemetry, error) {
	pathOf, err := labels.Paths(cfg.Paths...)
	if err != nil {
		return nil, err
	}
	if cfg.TracerProvider == nil {
		cfg.TracerProvider = otel.GetTracerProvider()
	}
	if cfg.MeterProvider == nil {
		cfg.MeterProvider = otel.GetMeterProvider()
	}
	t := &Telemetry{
		tracer: cfg.TracerProvider.Tracer(scope), requestSpans: cfg.Requests, pathOf: pathOf,
		tracked: map[*framework.Client]struct{}{},
	}
	t.acquires.make = newAcquires
	t.waits.make = newWaits
	t.holds.make = t.newHolds
	t.requests.make = newRequests
	t.changes.make = newChanges
	if err := t.meter(cfg.MeterProvider.Meter(scope)); err != nil {
		return nil, fmt.Errorf("zkotel: %w", err)
	}
	return t, nil
}

// meter makes the metrics, and registers those that are read when they are collected.
func (t *Telemetry) meter(m metric.Meter) (err error) {
	if t.instruments, err = newInstruments(m); err != nil {
		return err
	}
	t.callback, err = m.RegisterCallback(t.observe, t.instruments.observed()...)
	return err
}

// Close ends the metrics that are read when they are collected: zkrecipes.holds,
// zkrecipes.clients and the others that README.md calls up-down counters and gauges. It
// is for programs that call New more than once with the same MeterProvider, after the
// clients were closed. Traces and the other metrics go on.
func (t *Telemetry) Close() error { return t.callback.Unregister() }

// Observer returns an observer for one client, for framework.Config.Observers. Each
// client needs one of its own.
func (t *Telemetry) Observer() framework.Observer {
	return framework.Observer{
		StateChanged:   t.newClient(),
		RequestEnded:   t.requestEnded,
		CleanupStarted: func(string) { t.cleanups.Add(1) },
		CleanupEnded:   t.cleanupEnded,
		AcquireStarted: t.acquireStarted,
		AcquireEnded:   t.acquireEnded,
		HoldStarted:    t.holdStarted,
		HoldEnded:      t.holdEnded,
	}
}

// cleanupEnded does not count what became pointless as a failure: the znode goes with
// its session, which is over or is being closed.
func (t *Telemetry) cleanupEnded(_ string, err error) {
	t.cleanups.Add(-1)
	if err != nil && !errors.Is(err, framework.ErrSessionLost) && !errors.Is(err, framework.ErrClosed) {
		t.instruments.cleanupFailures.Add(context.Background(), 1)
	}
}
