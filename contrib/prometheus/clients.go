package zkprom

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/zkrecipes/zkrecipes/framework"
)

// states are all states of a client. In the last one it is not counted as a client.
var states = []framework.State{
	framework.Connecting, framework.Connected, framework.Suspended, framework.Lost, framework.Closed,
}

// clients are the metrics of the states of clients.
type clients struct {
	states  *prometheus.GaugeVec
	changes *prometheus.CounterVec
	// in are the gauges of the states but Closed, and entered the counters of all.
	in      map[framework.State]prometheus.Gauge
	entered map[framework.State]prometheus.Counter
}

func newClients() clients {
	c := clients{
		states:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "zkrecipes_clients", Help: "Clients that are not closed, by state."}, []string{"state"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "zkrecipes_client_state_changes_total", Help: "Transitions of clients to a state."}, []string{"state"}),
		in:      map[framework.State]prometheus.Gauge{},
		entered: map[framework.State]prometheus.Counter{},
	}
	for _, state := range states {
		c.entered[state] = c.changes.WithLabelValues(state.String())
		if state != framework.Closed {
			c.in[state] = c.states.WithLabelValues(state.String())
		}
	}
	return c
}

// newClient returns what is to be called for each transition of one client, in order,
// beginning with that to Connecting.
func (c clients) newClient() func(framework.StateChange) {
	var last atomic.Int64
	last.Store(int64(framework.Closed)) // no client counts before its first transition
	return func(change framework.StateChange) {
		c.entered[change.State].Inc()
		if before, ok := c.in[framework.State(last.Swap(int64(change.State)))]; ok {
			before.Dec()
		}
		if now, ok := c.in[change.State]; ok {
			now.Inc()
		}
	}
}
