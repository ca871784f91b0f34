package zkotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace/noop"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// However many paths are locked, there is one series for each template.
func TestPathTemplates(t *testing.T) {
	b := newBackend(t, zkotel.Config{Paths: []string{"/locks/*", "/jobs/**"}})
	o := b.Observer()
	for _, path := range []string{"/locks/a", "/locks/b", "/jobs/a/b", "/jobs/c", "/a", "/b"} {
		acquire(o, framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path, Recipe: "mutex"}, Waited: time.Second, Ahead: 2, HandOver: time.Millisecond})
	}
	metrics := b.metrics(t)
	for name, sum := range map[string]float64{"acquire.ahead": 4, "hand_over": .002, "acquire.waiting": 0} {
		require.Equal(t, map[string]float64{
			"path_template=/locks/*,recipe=mutex": sum, "path_template=/jobs/**,recipe=mutex": sum, "path_template=other,recipe=mutex": sum,
		}, metrics[name], name)
	}
	require.Equal(t, map[string]float64{
		"outcome=granted,path_template=/locks/*,recipe=mutex": 2, "outcome=granted,path_template=/jobs/**,recipe=mutex": 2,
		"outcome=granted,path_template=other,recipe=mutex": 2,
	}, metrics["acquire.wait"])
}

// acquire has an observer see an acquire.
func acquire(o framework.Observer, e framework.AcquireEnd) {
	o.AcquireEnded(o.AcquireStarted(context.Background(), e.AcquireInfo), e)
}

// hold has an observer see a hold.
func hold(o framework.Observer, e framework.HoldEnd) {
	o.HoldEnded(o.HoldStarted(context.Background(), e.HoldInfo), e)
}

// What is not known is not measured: the place in a queue that was not seen, and a
// hand-over without a wait.
func TestNotMeasured(t *testing.T) {
	b := newBackend(t, zkotel.Config{})
	acquire(b.Observer(), framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path, Recipe: "mutex"}, Ahead: -1})
	metrics := b.metrics(t)
	require.Empty(t, metrics["acquire.ahead"])
	require.Empty(t, metrics["hand_over"])
	acquire(b.Observer(), framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path, Recipe: "mutex"}})
	require.Len(t, b.metrics(t)["acquire.ahead"], 1, "nobody was ahead")
}

// All states are always there, and a client is in one of them until it is closed.
func TestClients(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		states := func(connecting, connected, suspended, lost float64) {
			t.Helper()
			require.Equal(t, map[string]float64{
				"state=connecting": connecting, "state=connected": connected, "state=suspended": suspended, "state=lost": lost,
			}, b.metrics(t)["clients"])
		}
		states(0, 0, 0, 0)
		b.client(w, "a")
		c := b.client(w, "c")
		states(0, 2, 0, 0)
		w.Server.Partition("c", true)
		<-c.Session().Done()
		w.Settle()
		require.NotEqual(t, framework.Connected, c.State())
		require.InDelta(t, 1, b.metrics(t)["clients"]["state=connected"], 0)
		w.Server.Partition("c", false)
		w.After(time.Minute)
		states(0, 2, 0, 0)
		require.NoError(t, c.Close())
		w.Settle()
		states(0, 1, 0, 0)
		changes := b.metrics(t)["client.state_changes"]
		require.InDelta(t, 3, changes["state=connected"], 0)
		require.InDelta(t, 1, changes["state=closed"], 0)
	})
}

// The trust that is left is the least of all clients that hold something.
func TestTrustLeft(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		a, c := b.client(w, "a"), b.client(w, "c")
		b.Track(c) // twice
		require.Empty(t, b.metrics(t)["trust_left"], "nothing is held")
		held := w.Acquire(newMutex(t, c))
		require.InDelta(t, time.Until(c.TrustedUntil()).Seconds(), b.metrics(t)["trust_left"][""], 0)
		w.Server.Partition("c", true)
		w.After(time.Second)
		other, err := mutex.New(a, "/locks/other")
		require.NoError(t, err)
		theirs := w.Acquire(other)
		w.After(2 * time.Second)
		require.Greater(t, a.TrustedUntil(), c.TrustedUntil())
		for range 20 {
			require.InDelta(t, time.Until(c.TrustedUntil()).Seconds(), b.metrics(t)["trust_left"][""], 0)
		}
		<-held.Done()
		require.InDelta(t, time.Until(a.TrustedUntil()).Seconds(), b.metrics(t)["trust_left"][""], 0)
		require.NoError(t, theirs.Release())
		require.Empty(t, b.metrics(t)["trust_left"])
		w.Server.Partition("c", false)
		w.After(time.Minute)
		held = w.Acquire(newMutex(t, a))
		require.NotEmpty(t, b.metrics(t)["trust_left"])
		require.NoError(t, a.Close())
		<-held.Done()
		require.Equal(t, 2, b.Tracked())
		require.Empty(t, b.metrics(t)["trust_left"])
		require.Equal(t, 1, b.Tracked(), "a closed client is forgotten")
		b.Track(a)
		require.Equal(t, 1, b.Tracked())
		require.NoError(t, c.Close())
		b.Track(a)
		require.Zero(t, b.Tracked(), "also if nobody collects")
		require.Panics(t, func() { b.Track(nil) })
		require.Empty(t, b.metrics(t)["trust_left"])
	})
}

// A removal that is left to the background is pending until it has ended.
func TestCleanups(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		held := w.Acquire(newMutex(t, b.client(w, "a")))
		refused := w.Server.On(zktest.OpDelete, path).Always().Fail(zktest.ThrottledOp)
		require.NoError(t, held.ReleaseAsync())
		w.After(time.Second)
		require.InDelta(t, 1, b.metrics(t)["cleanups.pending"][""], 0)
		refused.Remove()
		w.After(time.Minute)
		require.InDelta(t, 0, b.metrics(t)["cleanups.pending"][""], 0)
		o := b.Observer()
		o.CleanupStarted("/a")
		o.CleanupStarted("/b")
		o.CleanupStarted("/c")
		o.CleanupStarted("/d")
		require.InDelta(t, 4, b.metrics(t)["cleanups.pending"][""], 0)
		o.CleanupEnded("/a", nil)
		o.CleanupEnded("/c", fmt.Errorf("the znode went with it: %w", framework.ErrSessionExpired))
		o.CleanupEnded("/d", framework.ErrClosed)
		o.CleanupEnded("/b", errors.New("no answer"))
		metrics := b.metrics(t)
		require.InDelta(t, 0, metrics["cleanups.pending"][""], 0)
		require.InDelta(t, 1, metrics["cleanup.failures"][""], 0)
	})
}

// Exemplars of metrics lead to the trace.
func TestExemplars(t *testing.T) {
	inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
		held := w.Acquire(newMutex(t, b.client(w, "a")))
		w.Remove(w.Named("other"), held.Path())
		<-held.Done()
		w.Settle()
		with := map[string]bool{}
		for _, m := range b.collect(t) {
			for _, p := range points(t, m) {
				with[m.Name] = with[m.Name] || p.exemplars > 0
			}
		}
		for _, name := range []string{"acquire.wait", "acquire.ahead", "hold.duration", "losses", "request.duration"} {
			require.True(t, with["zkrecipes."+name], name)
		}
	})
}

func TestClose(t *testing.T) {
	b := newBackend(t, zkotel.Config{})
	require.Contains(t, b.metrics(t), "clients")
	require.NoError(t, b.Close())
	acquire(b.Observer(), framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path, Recipe: "mutex"}})
	metrics := b.metrics(t)
	require.NotContains(t, metrics, "clients")
	require.NotContains(t, metrics, "acquire.waiting")
	require.Contains(t, metrics, "acquire.wait")
	require.NoError(t, b.Close())
}

// What metrics need is made once: an acquire, a hold and a request allocate nothing for
// them. The rest is for spans.
func TestAllocations(t *testing.T) {
	b := newBackend(t, zkotel.Config{TracerProvider: noop.NewTracerProvider()})
	o, ctx := b.Observer(), t.Context()
	a, h := framework.AcquireEnd{AcquireInfo: framework.AcquireInfo{Path: path}, Ahead: 1, HandOver: 1}, framework.HoldEnd{HoldInfo: framework.HoldInfo{Path: path}}
	lost := framework.HoldEnd{HoldInfo: h.HoldInfo, Err: &lease.LossError{Reason: lease.ErrDeleted}}
	r := framework.Request{Op: "get", Attempt: 2}
	for name, measured := range map[string]func(){
		"acquire": func() { o.AcquireEnded(ctx, a) },
		"hold":    func() { o.HoldEnded(ctx, h) },
		"loss":    func() { o.HoldEnded(ctx, lost) },
		"request": func() { o.RequestEnded(ctx, r) },
	} {
		require.LessOrEqual(t, testing.AllocsPerRun(100, measured), map[string]float64{"hold": 2, "loss": 2}[name], name)
	}
}

// Each histogram has its own buckets, in seconds, or in contenders.
func TestBuckets(t *testing.T) {
	b := newBackend(t, zkotel.Config{})
	everything(t, b)
	ends := map[string][2]float64{}
	add := func(name string, bounds []float64) {
		require.IsIncreasing(t, bounds, name)
		ends[strings.TrimPrefix(name, "zkrecipes.")] = [2]float64{bounds[0], bounds[len(bounds)-1]}
	}
	for _, m := range b.collect(t) {
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			add(m.Name, data.DataPoints[0].Bounds)
		case metricdata.Histogram[int64]:
			add(m.Name, data.DataPoints[0].Bounds)
		}
	}
	require.Equal(t, map[string][2]float64{
		"acquire.wait": {.001, 1800}, "acquire.ahead": {0, 500}, "hand_over": {.0005, 2}, "hold.duration": {.001, 86400}, "request.duration": {.0005, 10},
	}, ends)
}

func TestBadTemplate(t *testing.T) {
	_, err := zkotel.New(zkotel.Config{Paths: []string{"locks"}})
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
}
