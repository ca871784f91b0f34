package zkotel_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// global sets the global providers, which can be set once in a process.
var global = sync.OnceValue(func() *backend {
	b := &backend{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans)))
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader)))
	return b
})

// The zero value has the global providers, also if they are set later. An acquire that
// began before then still counts as waiting.
func TestGlobalProviders(t *testing.T) {
	telemetry, err := zkotel.New(zkotel.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, telemetry.Close()) }()
	o, a := telemetry.Observer(), framework.AcquireInfo{Path: path, Recipe: "mutex"}
	started := o.AcquireStarted(t.Context(), a)
	b := global()
	require.InDelta(t, 1, b.metrics(t)["acquire.waiting"]["path_template=other,recipe=mutex"], 0)
	o.AcquireEnded(started, framework.AcquireEnd{AcquireInfo: a})
	before := len(b.spans.Ended())
	acquire(o, framework.AcquireEnd{AcquireInfo: a})
	require.InDelta(t, 0, b.metrics(t)["acquire.waiting"]["path_template=other,recipe=mutex"], 0)
	require.Len(t, b.spans.Ended(), before+1)
	require.Equal(t, "github.com/zkrecipes/zkrecipes/contrib/otel", b.spans.Ended()[before].InstrumentationScope().Name)
}
