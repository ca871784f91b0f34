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

// trustedUntil returns the earliest trust deadline of the tracked clients that hold
// something. It is zero if none does.
func (m *Metrics) trustedUntil() (earliest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetClosed()
	for c := range m.tracked {
		until := c.TrustedUntil()
		if until.IsZero() {
			continue
		}
		if earliest.IsZero() || until.Before(earliest) {
			earliest = until
		}
	}
	return earliest
}

// timeLeft is not negative: a process that was paused may be scraped before it notices
// that the deadline has passed.
func timeLeft(until time.Time) time.Duration { return max(0, time.Until(until)) }
