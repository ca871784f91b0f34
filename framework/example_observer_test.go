package framework_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A meter measures what the recipes of a client do, and traces it.
type meter struct {
	mu                     sync.Mutex
	waited, handOver, held time.Duration
	failed, lost           int
}

func (m *meter) observer() framework.Observer {
	return framework.Observer{
		AcquireStarted: func(ctx context.Context, a framework.AcquireInfo) context.Context {
			return startSpan(ctx, "acquire "+a.Path)
		},
		AcquireEnded: func(ctx context.Context, e framework.AcquireEnd) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.waited, m.handOver = m.waited+e.Waited, m.handOver+e.HandOver
			if e.Err != nil {
				m.failed++
			}
			endSpan(ctx, e.Err)
		},
		HoldStarted: func(ctx context.Context, h framework.HoldInfo) context.Context {
			return startSpan(ctx, "hold "+h.Path)
		},
		HoldEnded: func(ctx context.Context, e framework.HoldEnd) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.held += e.Held
			if errors.Is(e.Err, lease.ErrLost) {
				m.lost++
			}
			endSpan(ctx, e.Err)
		},
	}
}

// An observer measures how long a mutex is waited for and held, how long a hand-over
// takes, and what fails and is lost. Its spans have the caller's span as parent, and
// the spans of the work have the hold's.
func ExampleObserver() {
	ctx := context.Background()
	server, err := zktest.Start() // a real program has the addresses of an ensemble
	if err != nil {
		panic(err)
	}
	defer server.Close()
	var m meter
	cfg := framework.Config{Servers: []string{server.Addr()}, Logger: slog.New(slog.DiscardHandler)}
	other, err := framework.Connect(ctx, cfg)
	if err != nil {
		panic(err)
	}
	defer other.Close()
	cfg.Observers = []framework.Observer{m.observer()}
	client, err := framework.Connect(ctx, cfg)
	if err != nil {
		panic(err)
	}
	defer client.Close()

	theirs, err := mutex.New(other, "/orders")
	if err != nil {
		panic(err)
	}
	held, err := theirs.Acquire(ctx, time.Second)
	if err != nil {
		panic(err)
	}
	ours, err := mutex.New(client, "/orders")
	if err != nil {
		panic(err)
	}
	request := startSpan(ctx, "request")
	_, _ = ours.Acquire(request, 0) // fails
	time.AfterFunc(500*time.Millisecond, func() { held.Release() })
	err = lease.Do(request, ours, time.Minute, func(ctx context.Context, _ *lease.Lease) error {
		endSpan(startSpan(ctx, "work"), nil)
		return nil
	})
	if err != nil {
		panic(err)
	}
	_, _ = ours.Acquire(request, time.Minute) // is lost when the client is closed
	client.Close()
	fmt.Println("waited:", m.waited > 10*time.Millisecond, "handed over:", m.handOver > 0 && m.handOver < m.waited)
	fmt.Println("held:", m.held > 0, "failed:", m.failed, "lost:", m.lost)
	// Output:
	// acquire /orders in request: timeout
	// acquire /orders in request: ok
	// work in hold /orders: ok
	// hold /orders in request: ok
	// acquire /orders in request: ok
	// hold /orders in request: lost
	// waited: true handed over: true
	// held: true failed: 1 lost: 1
}

// A span stands for one of a tracing library. With OpenTelemetry startSpan is
// Tracer.Start without its second result, and endSpan ends trace.SpanFromContext(ctx).
type span struct {
	name   string
	parent *span
}

func startSpan(ctx context.Context, name string) context.Context {
	parent, _ := ctx.Value(span{}).(*span)
	return context.WithValue(ctx, span{}, &span{name, parent})
}

func endSpan(ctx context.Context, err error) {
	outcome := "ok"
	switch {
	case errors.Is(err, lease.ErrTimeout):
		outcome = "timeout"
	case errors.Is(err, lease.ErrLost):
		outcome = "lost"
	}
	s := ctx.Value(span{}).(*span)
	fmt.Printf("%s in %s: %s\n", s.name, s.parent.name, outcome)
}
