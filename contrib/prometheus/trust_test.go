package zkprom_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"

	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
)

func TestTrustIsAbsentWhileNothingIsHeld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := newMutex(t, w.measured("a"))
		assert.Empty(t, w.values("trust_left_seconds"))
		held := w.Acquire(m)
		w.After(time.Second)
		left := w.values("trust_left_seconds")[""]
		assert.Greater(t, left, conformance.SessionTimeout.Seconds()/3)
		assert.LessOrEqual(t, left, conformance.SessionTimeout.Seconds())
		require.NoError(t, held.Release())
		w.Settle()
		assert.Empty(t, w.values("trust_left_seconds"))
	})
}

// It is that of a client that hears nothing, until its lease is lost.
func TestTrustIsTheLeastOfAllClients(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, b := w.measured("a"), w.measured("b")
		w.metrics.Track(a) // once more makes no difference
		w.measured("c")    // holds nothing
		first := w.Acquire(newMutex(t, a))
		second := w.Acquire(mutexAt(t, b, other))
		w.After(time.Second)
		w.Server.Partition("a", true)
		last := time.Hour.Seconds()
		for first.Err() == nil {
			left := w.values("trust_left_seconds")[""]
			require.InDelta(t, min(time.Until(a.TrustedUntil()), time.Until(b.TrustedUntil())).Seconds(), left, 1e-9)
			require.LessOrEqual(t, left, last+1)
			last = left
			w.After(100 * time.Millisecond)
		}
		require.Less(t, last, .2, "the lease is lost when no trust is left")
		w.Settle()
		assert.InDelta(t, time.Until(b.TrustedUntil()).Seconds(), w.values("trust_left_seconds")[""], 1e-9)
		require.Error(t, first.Release())
		require.NoError(t, second.Release())
	})
}

func TestTrustIsNeverNegative(t *testing.T) {
	assert.Zero(t, zkprom.TimeLeft(time.Now().Add(-time.Hour)))
	assert.Greater(t, zkprom.TimeLeft(time.Now().Add(time.Hour)), time.Minute)
}

// A client that is closed is forgotten although nobody scrapes, so that clients that
// come and go do not pile up.
func TestClosedClientsAreForgotten(t *testing.T) {
	for name, forget := range map[string]func(w *world){
		"by a scrape":               func(w *world) { w.scrape() },
		"by Track of another":       func(w *world) { w.measured("b") },
		"although tracked only now": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				c, err := framework.Connect(t.Context(), conformance.Config(w.Server, "a"))
				require.NoError(t, err)
				kept := weak.Make(c)
				if name != "although tracked only now" {
					w.metrics.Track(c)
				}
				require.NoError(t, c.Close())
				if name == "although tracked only now" {
					w.metrics.Track(c)
				}
				forget(w)
				w.Settle() // goroutines that are about to end have the client
				runtime.GC()
				assert.Nil(t, kept.Value())
				runtime.KeepAlive(w.metrics)
			})
		})
	}
}

func TestTrackOfNoClient(t *testing.T) {
	for _, c := range []*framework.Client{nil, {}} {
		m := newMetrics(t)
		assert.Panics(t, func() { m.Track(c) }, "at once, not at a scrape")
		assert.NotPanics(t, func() { testutil.CollectAndCount(m) })
	}
}
