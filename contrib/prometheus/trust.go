package zkprom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkrecipes/zkrecipes/framework"
)

var trustLeft = prometheus.NewDesc("zkrecipes_trust_left_seconds",
	"Time until the first lease is lost if no server answers; absent while nothing is held.", nil, nil)

// Track includes a client in zkrecipes_trust_left_seconds, which is the least of all
// clients. Call it once Connect has returned. A client that was closed is forgotten.
// Like the client's own methods it panics for a nil or zero client.
func (m *Metrics) Track(c *framework.Client) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetClosed()
	if c.State() != framework.Closed {
		m.tracked[c] = struct{}{}
	}
}

// forgetClosed is called under the lock, by Track too: perhaps nobody collects.
func (m *Metrics) forgetClosed() {
	for c := range m.tracked {
		if c.State() == framework.Closed {
			delete(m.tracked, c)
		}
	}
}

// trustLeft returns the least time for which a tracked client that holds something is
// trusted. It returns false if none does.
func (m *Metrics) trustLeft() (least time.Duration, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetClosed()
	for c := range m.tracked {
		until := c.TrustedUntil()
		if until.IsZero() {
			continue
		}
		if left := max(0, time.Until(until)); !held || left < least {
			least, held = left, true
		}
	}
	return least, held
}
