package zkprom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
)

// Config is the configuration of Metrics. The zero value makes no difference between
// paths.
type Config struct {
	// Paths are templates for the label path, as in labels.Paths: a path that a recipe
	// was given, with chroot and namespace, is labeled with the first that matches it,
	// or else with "other".
	Paths []string
}

// Metrics are those of any number of clients. It is a prometheus.Collector, and safe
// for concurrent use. New makes it.
type Metrics struct {
	pathOf   func(path string) string
	vectors  vectors
	clients  clients
	cleanups cleanups

	acquires series[lock, *acquires]
	waits    series[ending, prometheus.Observer]
	holds    series[lock, *holds]
	requests series[request, requests]

	mu      sync.Mutex
	tracked map[*framework.Client]struct{}
}

// New returns metrics that are not registered yet. It returns a
// framework.ErrInvalidArgument for a path template that is not well formed.
func New(cfg Config) (*Metrics, error) {
	pathOf, err := labels.Paths(cfg.Paths...)
	if err != nil {
		return nil, err
	}
	m := &Metrics{
		pathOf: pathOf, vectors: newVectors(), clients: newClients(), cleanups: newCleanups(),
		tracked: map[*framework.Client]struct{}{},
	}
	m.acquires.make = m.vectors.acquiresOf
	m.waits.make = m.vectors.waitOf
	m.holds.make = m.vectors.holdsOf
	m.requests.make = m.vectors.requestsOf
	return m, nil
}

// collectors returns all metrics but the trust that is left.
func (m *Metrics) collectors() []prometheus.Collector {
	return append(m.vectors.all(), m.clients.states, m.clients.changes, m.cleanups.pending, m.cleanups.failures)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(to)
	}
	to <- trustLeft
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(to)
	}
	if until := m.trustedUntil(); !until.IsZero() {
		to <- prometheus.MustNewConstMetric(trustLeft, prometheus.GaugeValue, timeLeft(until).Seconds())
	}
}
