package zkprom

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/zkrecipes/zkrecipes/labels"
)

// The upper bounds of buckets. There are few, as each is a series for each combination
// of labels. Times are in seconds.
var (
	waitBuckets     = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 300, 1800}
	handOverBuckets = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .5, 2}
	holdBuckets     = []float64{.001, .01, .1, 1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600}
	aheadBuckets    = []float64{0, 1, 2, 5, 10, 20, 50, 100, 500}
	requestBuckets  = []float64{.0005, .001, .002, .005, .01, .025, .1, .5, 2, 10}
)

// vectors are the metrics that have labels of what is locked, or of requests.
type vectors struct {
	wait, ahead, handOver, hold *prometheus.HistogramVec
	waiting, held               *prometheus.GaugeVec
	losses, releaseFailures     *prometheus.CounterVec
	requestTimes                *prometheus.HistogramVec
	retries                     *prometheus.CounterVec
}

func newVectors() vectors {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return vectors{
		wait: histogram("zkrecipes_acquire_wait_seconds", "How long acquires took, requests included, whatever their outcome.",
			waitBuckets, "path", "recipe", "outcome"),
		waiting: gauge("zkrecipes_acquires_waiting", "Acquires that have started and not ended.", "path", "recipe"),
		ahead: histogram("zkrecipes_acquire_ahead", "How many contenders were ahead of an acquire at most, of those that its client has seen.",
			aheadBuckets, "path", "recipe"),
		handOver: histogram("zkrecipes_hand_over_seconds", "How long it took from the end of the hold before to the grant, for acquires that waited.",
			handOverBuckets, "path", "recipe"),
		hold:            histogram("zkrecipes_hold_seconds", "How long holds lasted, whether released or lost.", holdBuckets, "path", "recipe"),
		held:            gauge("zkrecipes_holds", "Holds that have started and not ended.", "path", "recipe"),
		losses:          counter("zkrecipes_losses_total", "Holds that were lost before they were released.", "path", "recipe", "reason"),
		releaseFailures: counter("zkrecipes_release_failures_total", "Holds that were released, but whose znode could not be removed.", "path", "recipe"),
		requestTimes: histogram("zkrecipes_request_seconds", "How long requests to ZooKeeper took, each attempt counted by itself.",
			requestBuckets, "op", "outcome"),
		retries: counter("zkrecipes_request_retries_total", "Requests that repeated an earlier one.", "op"),
	}
}

func (v vectors) all() []prometheus.Collector {
	return []prometheus.Collector{
		v.wait, v.waiting, v.ahead, v.handOver, v.hold, v.held, v.losses, v.releaseFailures, v.requestTimes, v.retries,
	}
}

// A lock is what the labels tell about what is acquired.
type lock struct{ path, recipe string }

// acquires are the metrics of the acquires of a lock, however they end.
type acquires struct {
	waiting         prometheus.Gauge
	ahead, handOver prometheus.Observer
}

func (v vectors) acquiresOf(l lock) *acquires {
	return &acquires{
		waiting:  v.waiting.WithLabelValues(l.path, l.recipe),
		ahead:    v.ahead.WithLabelValues(l.path, l.recipe),
		handOver: v.handOver.WithLabelValues(l.path, l.recipe),
	}
}

// An ending is how acquires of a lock have ended.
type ending struct {
	lock
	outcome string
}

func (v vectors) waitOf(e ending) prometheus.Observer {
	return v.wait.WithLabelValues(e.path, e.recipe, e.outcome)
}

// holds are the metrics of the holds of a lock.
type holds struct {
	held            prometheus.Gauge
	times           prometheus.Observer
	losses          map[string]prometheus.Counter // by reason
	releaseFailures prometheus.Counter
}

// holdsOf has a counter for each reason from the first hold on: the increase from no
// series to 1 would not be seen.
func (v vectors) holdsOf(l lock) *holds {
	h := &holds{
		held:            v.held.WithLabelValues(l.path, l.recipe),
		times:           v.hold.WithLabelValues(l.path, l.recipe),
		losses:          map[string]prometheus.Counter{},
		releaseFailures: v.releaseFailures.WithLabelValues(l.path, l.recipe),
	}
	for _, reason := range labels.Losses() {
		h.losses[reason] = v.losses.WithLabelValues(l.path, l.recipe, reason)
	}
	return h
}

// A request is what the labels tell about one.
type request struct{ op, outcome string }

// requests are the metrics of such requests.
type requests struct {
	times   prometheus.Observer
	retries prometheus.Counter // whatever their outcome
}

func (v vectors) requestsOf(r request) requests {
	return requests{times: v.requestTimes.WithLabelValues(r.op, r.outcome), retries: v.retries.WithLabelValues(r.op)}
}
