package zkotel

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"go.opentelemetry.io/otel/metric"
)

func newChanges(s framework.State) []metric.AddOption {
	return []metric.AddOption{option(stateKey.String(s.String()))}
}

// newClient returns what is to be called for each transition of one client, in order,
// beginning with that to Connecting.
func (t *Telemetry) newClient() func(framework.StateChange) {
	var last atomic.Int64
	last.Store(int64(framework.Closed)) // no client counts before its first transition
	return func(change framework.StateChange) {
		t.instruments.clientChanges.Add(context.Background(), 1, t.changes.of(change.State)...)
		if before := framework.State(last.Swap(int64(change.State))); before != framework.Closed {
			t.clients[before].Add(-1)
		}
		if change.State != framework.Closed {
			t.clients[change.State].Add(1)
		}
	}
}

// observe tells a reader of metrics what is the case now.
func (t *Telemetry) observe(_ context.Context, to metric.Observer) error {
	t.acquires.each(func(a *acquires) { to.ObserveInt64(t.instruments.waiting, a.waiting.Load(), a.observe) })
	t.holds.each(func(h *holds) { to.ObserveInt64(t.instruments.holds, h.held.Load(), h.observe) })
	to.ObserveInt64(t.instruments.cleanups, t.cleanups.Load())
	for state := range t.clients {
		to.ObserveInt64(t.instruments.clients, t.clients[state].Load(), option(stateKey.String(framework.State(state).String())))
	}
	if left, any := t.trustLeft(); any {
		to.ObserveFloat64(t.instruments.trustLeft, left.Seconds())
	}
	return nil
}

// Track includes a client in zkrecipes.trust_left, which is the least of all clients.
// Call it once Connect has returned. A client that was closed is forgotten. Like the
// client's own methods it panics for a nil or zero client.
func (t *Telemetry) Track(c *framework.Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetClosed()
	if c.State() != framework.Closed {
		t.tracked[c] = struct{}{}
	}
}

// forgetClosed is called under the lock, by Track too: perhaps nobody collects.
func (t *Telemetry) forgetClosed() {
	for c := range t.tracked {
		if c.State() == framework.Closed {
			delete(t.tracked, c)
		}
	}
}

// trustLeft returns the least time for which a tracked client that holds something is
// trusted. It returns false if none does.
func (t *Telemetry) trustLeft() (least time.Duration, any bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetClosed()
	for c := range t.tracked {
		until := c.TrustedUntil()
		if until.IsZero() {
			continue
		}
		if left := max(0, time.Until(until)); !any || left < least {
			least, any = left, true
		}
	}
	return least, any
}
