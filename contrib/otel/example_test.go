package zkotel_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// A program traces a request, with what it does under a lock as part of the hold.
func Example() {
	ctx := context.Background()
	server, err := zktest.Start() // a real program has the addresses of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	spans := tracetest.NewInMemoryExporter() // and exporters for a collector
	traces := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	reader := sdkmetric.NewManualReader()

	telemetry, err := zkotel.New(zkotel.Config{
		TracerProvider: traces,
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		Paths:          []string{"/locks/*"},
	})
	if err != nil {
		log.Fatal(err)
	}
	client, err := framework.Connect(ctx, framework.Config{
		Servers:   []string{server.Addr()},
		Observers: []framework.Observer{telemetry.Observer()},
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	telemetry.Track(client)
	orders, err := mutex.New(client, "/locks/orders")
	if err != nil {
		log.Fatal(err)
	}

	tracer := traces.Tracer("program")
	ctx, request := tracer.Start(ctx, "request")
	err = lease.Do(ctx, orders, time.Minute, func(ctx context.Context, _ *lease.Lease) error {
		_, work := tracer.Start(ctx, "work")
		defer work.End()
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	request.End()
	printTree(spans.GetSpans(), request.SpanContext().SpanID().String(), "")
	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &metrics); err != nil {
		log.Fatal(err)
	}
	printHolds(metrics)
	// Output:
	// acquire mutex
	// hold mutex
	//   work
	// holds of /locks/*: 1
}

func printTree(spans tracetest.SpanStubs, parent, indent string) {
	for _, s := range spans {
		if s.Parent.SpanID().String() == parent {
			fmt.Println(indent + s.Name)
			printTree(spans, s.SpanContext.SpanID().String(), indent+"  ")
		}
	}
}

func printHolds(all metricdata.ResourceMetrics) {
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name == "zkrecipes.hold.duration" {
			for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
				template, _ := p.Attributes.Value("zkrecipes.path_template")
				fmt.Printf("holds of %s: %d\n", template.AsString(), p.Count)
			}
		}
	}
}
