package zkotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/locks/orders"

// A backend is where the traces and metrics of a test go.
type backend struct {
	*zkotel.Telemetry
	spans  *tracetest.SpanRecorder
	tracer trace.Tracer // of the program
	reader *sdkmetric.ManualReader
}

func newBackend(t *testing.T, cfg zkotel.Config, opts ...sdktrace.TracerProviderOption) *backend {
	t.Helper()
	b := &backend{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	provider := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(b.spans))...)
	b.tracer = provider.Tracer("program")
	if cfg.TracerProvider == nil {
		cfg.TracerProvider = provider
	}
	cfg.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader))
	var err error
	b.Telemetry, err = zkotel.New(cfg)
	require.NoError(t, err)
	return b
}

// inWorld runs a test, and then requires that all that has started has ended.
func inWorld(t *testing.T, cfg zkotel.Config, test func(t *testing.T, w *conformance.World, b *backend), opts ...sdktrace.TracerProviderOption) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		b := newBackend(t, cfg, opts...)
		test(t, w, b)
		w.Heal()
		w.CloseAll()
		w.Settle()
		require.Len(t, b.spans.Ended(), len(b.spans.Started()), "spans that have not ended")
		metrics := b.metrics(t)
		for _, name := range []string{"acquire.waiting", "holds", "cleanups.pending", "clients"} {
			for attributes, value := range metrics[name] {
				require.Zero(t, value, "%s{%s}", name, attributes)
			}
		}
		require.Empty(t, metrics["trust_left"])
	})
}

// client connects a client that is observed.
func (b *backend) client(w *conformance.World, name string, change ...func(*framework.Config)) *framework.Client {
	observe := func(cfg *framework.Config) { cfg.Observers = append(cfg.Observers, b.Observer()) }
	c := w.Client(name, append(change, observe)...)
	b.Track(c)
	return c
}

func newMutex(t *testing.T, c *framework.Client, opts ...mutex.Option) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(c, path, opts...)
	require.NoError(t, err)
	return m
}

// sessionOf writes the id of a client's session as ZooKeeper does.
func sessionOf(c *framework.Client) string { return fmt.Sprintf("0x%x", uint64(c.Session().ID())) }

// ended returns the spans of a name that have ended.
func (b *backend) ended(name string) (all []sdktrace.ReadOnlySpan) {
	for _, s := range b.spans.Ended() {
		if s.Name() == name {
			all = append(all, s)
		}
	}
	return all
}

// one returns the only span of a name that has ended.
func (b *backend) one(t *testing.T, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	all := b.ended(name)
	require.Len(t, all, 1, name)
	return all[0]
}

func requireChild(t *testing.T, child sdktrace.ReadOnlySpan, parent trace.SpanContext) {
	t.Helper()
	require.Equal(t, parent.SpanID(), child.Parent().SpanID(), child.Name())
	require.Equal(t, parent.TraceID(), child.SpanContext().TraceID(), child.Name())
}

// attributes returns those of a span, or of an event, by names without prefix.
func attributes(all []attribute.KeyValue) map[string]any {
	values := map[string]any{}
	for _, a := range all {
		values[strings.TrimPrefix(string(a.Key), "zkrecipes.")] = a.Value.AsInterface()
	}
	return values
}

// collect returns what a reader of metrics gets.
func (b *backend) collect(t *testing.T) []metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, b.reader.Collect(context.Background(), &all))
	require.Len(t, all.ScopeMetrics, 1)
	return all.ScopeMetrics[0].Metrics
}

// metrics returns the values of all metrics, by name and attributes. That of a
// histogram is its sum.
func (b *backend) metrics(t *testing.T) map[string]map[string]float64 {
	t.Helper()
	values := map[string]map[string]float64{}
	for _, m := range b.collect(t) {
		series := map[string]float64{}
		values[strings.TrimPrefix(m.Name, "zkrecipes.")] = series
		for _, p := range points(t, m) {
			series[p.attributes()] = p.value
		}
	}
	return values
}

// A point is one of a series.
type point struct {
	set       attribute.Set
	value     float64
	count     uint64
	exemplars int
}

// attributes returns "name=value,…", the names without prefix.
func (p point) attributes() string {
	var all []string
	for _, a := range p.set.ToSlice() {
		all = append(all, fmt.Sprintf("%s=%s", strings.TrimPrefix(string(a.Key), "zkrecipes."), a.Value.String()))
	}
	return strings.Join(all, ",")
}

func points(t *testing.T, m metricdata.Metrics) (all []point) {
	t.Helper()
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, float64(p.Value), 0, len(p.Exemplars)})
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, p.Value, 0, len(p.Exemplars)})
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, p.Sum, p.Count, len(p.Exemplars)})
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			all = append(all, point{p.Attributes, float64(p.Sum), p.Count, len(p.Exemplars)})
		}
	default:
		t.Fatalf("%s is a %T", m.Name, m.Data)
	}
	return all
}
