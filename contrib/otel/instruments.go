package zkotel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// The upper bounds of buckets, those of contrib/prometheus. There are few, as each is a
// series for each combination of attributes. Times are in seconds.
var (
	waitBuckets     = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 300, 1800}
	handOverBuckets = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .5, 2}
	holdBuckets     = []float64{.001, .01, .1, 1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600}
	aheadBuckets    = []float64{0, 1, 2, 5, 10, 20, 50, 100, 500}
	requestBuckets  = []float64{.0005, .001, .002, .005, .01, .025, .1, .5, 2, 10}
)

// instruments are the metrics. What is the case now is observed when it is collected:
// so it is right from then on, also if the provider was not there when it began.
type instruments struct {
	wait, handOver, hold, request                                    metric.Float64Histogram
	ahead                                                            metric.Int64Histogram
	losses, releaseFailures, retries, cleanupFailures, clientChanges metric.Int64Counter
	waiting, holds, cleanups, clients                                metric.Int64ObservableUpDownCounter
	trustLeft                                                        metric.Float64ObservableGauge
}

func newInstruments(m metric.Meter) (i instruments, err error) {
	b := builder{meter: m}
	i.wait = b.seconds("zkrecipes.acquire.wait", "How long acquires took, requests included, whatever their outcome.", waitBuckets)
	i.waiting = b.now("zkrecipes.acquire.waiting", "{acquire}", "Acquires that have started and not ended.")
	i.ahead = b.numbers("zkrecipes.acquire.ahead", "{contender}",
		"How many contenders were ahead of an acquire at most, of those that its client has seen.", aheadBuckets)
	i.handOver = b.seconds("zkrecipes.hand_over",
		"How long it took from the end of the hold before to the grant, for acquires that waited.", handOverBuckets)
	i.hold = b.seconds("zkrecipes.hold.duration", "How long holds lasted, whether released or lost.", holdBuckets)
	i.holds = b.now("zkrecipes.holds", "{hold}", "Holds that have started and not ended.")
	i.losses = b.count("zkrecipes.losses", "{loss}", "Holds that were lost before they were released.")
	i.releaseFailures = b.count("zkrecipes.release.failures", "{failure}", "Holds that were released, but whose znode could not be removed.")
	i.request = b.seconds("zkrecipes.request.duration", "How long requests to ZooKeeper took, each attempt counted by itself.", requestBuckets)
	i.retries = b.count("zkrecipes.request.retries", "{retry}", "Requests that repeated an earlier one.")
	i.cleanups = b.now("zkrecipes.cleanups.pending", "{cleanup}", "Znodes whose removal was left to the background, and is not confirmed.")
	i.cleanupFailures = b.count("zkrecipes.cleanup.failures", "{failure}", "Such removals that were refused, so that the znode stays.")
	i.clients = b.now("zkrecipes.clients", "{client}", "Clients that are not closed, by state.")
	i.clientChanges = b.count("zkrecipes.client.state_changes", "{change}", "Transitions of clients to a state.")
	i.trustLeft = b.gauge("zkrecipes.trust_left", "Time until the first lease is lost if no server answers; absent while nothing is held.")
	return i, errors.Join(b.errs...)
}

// observed are those that are read when they are collected.
func (i instruments) observed() []metric.Observable {
	return []metric.Observable{i.waiting, i.holds, i.cleanups, i.clients, i.trustLeft}
}

// A builder makes instruments, and keeps what fails.
type builder struct {
	meter metric.Meter
	errs  []error
}

func (b *builder) seconds(name, description string, buckets []float64) metric.Float64Histogram {
	i, err := b.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(buckets...))
	b.errs = append(b.errs, err)
	return i
}

func (b *builder) numbers(name, unit, description string, buckets []float64) metric.Int64Histogram {
	i, err := b.meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(buckets...))
	b.errs = append(b.errs, err)
	return i
}

func (b *builder) count(name, unit, description string) metric.Int64Counter {
	i, err := b.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	b.errs = append(b.errs, err)
	return i
}

func (b *builder) now(name, unit, description string) metric.Int64ObservableUpDownCounter {
	i, err := b.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	b.errs = append(b.errs, err)
	return i
}

func (b *builder) gauge(name, description string) metric.Float64ObservableGauge {
	i, err := b.meter.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(description))
	b.errs = append(b.errs, err)
	return i
}
