package zkprom

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/labels"
)

// Observer returns an observer for one client, to be one of framework.Config.Observers.
// Each client needs a new one: it remembers in which state its client is.
func (m *Metrics) Observer() framework.Observer {
	return framework.Observer{
		StateChanged:   m.clients.newClient(),
		RequestEnded:   m.requestEnded,
		CleanupStarted: m.cleanups.started,
		CleanupEnded:   m.cleanups.ended,
		AcquireStarted: m.acquireStarted,
		AcquireEnded:   m.acquireEnded,
		HoldStarted:    m.holdStarted,
		HoldEnded:      m.holdEnded,
	}
}

func (m *Metrics) requestEnded(_ context.Context, r framework.Request) {
	such := m.requests.of(request{r.Op, framework.OutcomeOf(r.Err).String()})
	such.times.Observe(r.Duration.Seconds())
	if r.Attempt > 1 {
		such.retries.Inc()
	}
}

func (m *Metrics) acquireStarted(_ context.Context, a framework.AcquireInfo) context.Context {
	m.acquires.of(m.lockOf(a.Path, a.Recipe)).waiting.Inc()
	return nil
}

func (m *Metrics) acquireEnded(ctx context.Context, e framework.AcquireEnd) {
	of := m.lockOf(e.Path, e.Recipe)
	its := m.acquires.of(of)
	its.waiting.Dec()
	m.waits.of(ending{of, labels.Acquire(ctx, e)}).Observe(e.Waited.Seconds())
	if e.Ahead >= 0 {
		its.ahead.Observe(float64(e.Ahead))
	}
	if e.HandOver > 0 {
		its.handOver.Observe(e.HandOver.Seconds())
	}
}

func (m *Metrics) holdStarted(_ context.Context, h framework.HoldInfo) context.Context {
	m.holds.of(m.lockOf(h.Path, h.Recipe)).held.Inc()
	return nil
}

func (m *Metrics) holdEnded(_ context.Context, e framework.HoldEnd) {
	its := m.holds.of(m.lockOf(e.Path, e.Recipe))
	its.held.Dec()
	its.times.Observe(e.Held.Seconds())
	switch how := labels.Hold(e.Err); how {
	case labels.Released:
	case labels.ReleaseFailed:
		its.releaseFailures.Inc()
	default:
		its.losses[how].Inc()
	}
}

func (m *Metrics) lockOf(path, recipe string) lock { return lock{m.pathOf(path), recipe} }
