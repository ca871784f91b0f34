package zkprom_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Clients come, acquire, lose sessions and go, while others scrape.
func TestScrapesWhileEverythingGoesOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		var scraping, working sync.WaitGroup
		for range 2 {
			scraping.Go(func() {
				for ctx.Err() == nil {
					w.scrape()
					<-time.After(time.Millisecond)
				}
			})
		}
		a, b := w.measured("a"), w.measured("b")
		for i := range 8 {
			working.Go(func() {
				for round := range 20 {
					m := mutexAt(t, a, fmt.Sprintf("/locks/%d", (i+round)%3))
					if held, err := m.Acquire(t.Context(), time.Second); err == nil {
						<-time.After(time.Millisecond)
						_ = held.Release() // it may be lost
					}
					if i == 0 && round%5 == 0 {
						w.Server.ExpireSession(a.Session().ID())
					}
					w.metrics.Track(b)
				}
			})
		}
		working.Go(func() {
			m := newMutex(t, b)
			for range 20 {
				held, err := m.Acquire(t.Context(), time.Minute)
				if assert.NoError(t, err) {
					assert.NoError(t, held.Release())
				}
			}
			assert.NoError(t, b.Close())
		})
		working.Wait()
		cancel()
		scraping.Wait()
		w.After(time.Minute)
		assert.Empty(t, w.values("holds").nonZero())
		assert.Empty(t, w.values("acquires_waiting").nonZero())
		assert.Zero(t, w.values("cleanups_pending")[""])
		assert.Equal(t, clientsIn(series{"connected": 1}), w.values("clients"))
		total := 0.
		for _, n := range w.values("acquire_wait_seconds_count") {
			total += n
		}
		assert.InDelta(t, 180, total, 0)
	})
}

// What is measured costs an acquire no allocation, once its labels have occurred.
func TestEventsAllocateNothing(t *testing.T) {
	if extent.Race {
		t.Skip("the race detector allocates")
	}
	metrics := newMetrics(t, "/locks/*", "/jobs/**")
	of, ctx := metrics.Observer(), t.Context()
	acquire := framework.AcquireInfo{Recipe: "mutex", Path: "/jobs/a/b"}
	hold := framework.HoldInfo{Recipe: "mutex", Path: "/jobs/a/b"}
	released := framework.HoldEnd{HoldInfo: hold, Held: time.Second}
	lost := framework.HoldEnd{HoldInfo: hold, Err: &lease.LossError{Reason: lease.ErrDeleted}}
	events := func() {
		of.AcquireStarted(ctx, acquire)
		of.RequestEnded(ctx, framework.Request{Op: "create", Attempt: 2})
		of.AcquireEnded(ctx, framework.AcquireEnd{AcquireInfo: acquire, Waited: time.Second, HandOver: time.Millisecond, Ahead: 1})
		of.HoldStarted(ctx, hold)
		of.HoldEnded(ctx, released)
		of.HoldStarted(ctx, hold)
		of.HoldEnded(ctx, lost)
		of.CleanupStarted("/jobs/a/b/c")
		of.CleanupEnded("/jobs/a/b/c", nil)
		of.StateChanged(framework.StateChange{State: framework.Connected})
	}
	assert.Zero(t, testing.AllocsPerRun(100, events))
	assert.Equal(t, 1, testutil.CollectAndCount(metrics, "zkrecipes_holds"))
}

// A free mutex on a server in this process, with metrics and without.
func BenchmarkAcquire(b *testing.B) {
	for name, observers := range map[string][]framework.Observer{
		"without": nil, "with": {newMetrics(b, path).Observer()},
	} {
		b.Run(name, func(b *testing.B) {
			server, err := zktest.Start()
			require.NoError(b, err)
			defer server.Close()
			cfg := framework.Config{Servers: []string{server.Addr()}, Logger: slog.New(slog.DiscardHandler), Observers: observers}
			c, err := framework.Connect(b.Context(), cfg)
			require.NoError(b, err)
			defer c.Close()
			m := newMutex(b, c)
			b.ReportAllocs()
			for b.Loop() {
				held, err := m.Acquire(b.Context(), time.Minute)
				if err != nil {
					b.Fatal(err)
				}
				if err := held.Release(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
