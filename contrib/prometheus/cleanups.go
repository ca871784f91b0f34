package zkprom

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/zkrecipes/zkrecipes/framework"
)

// cleanups are the metrics of the removal of znodes in the background.
type cleanups struct {
	pending  prometheus.Gauge
	failures prometheus.Counter
}

func newCleanups() cleanups {
	return cleanups{
		pending: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "zkrecipes_cleanups_pending", Help: "Removals of znodes in the background that have started and not ended.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "zkrecipes_cleanup_failures_total", Help: "Removals of znodes in the background that were refused.",
		}),
	}
}

func (c cleanups) started(string) { c.pending.Inc() }

// ended does not count what became pointless as a failure: the znode goes with its
// session, which is over or is being closed.
func (c cleanups) ended(_ string, err error) {
	c.pending.Dec()
	if err != nil && !errors.Is(err, framework.ErrSessionLost) && !errors.Is(err, framework.ErrClosed) {
		c.failures.Inc()
	}
}
