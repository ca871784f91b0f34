package retry

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	// jitter is how far a delay may lie from its average, as a fraction of the average.
	jitter = 0.5

	// growth is the ratio between one average and the next.
	growth = 1.5
)

// Schedule is one run through a [Policy]: the delays of one loop, in order. It is for
// loops of your own; [Do] has its own. It needs no stop. It is not safe for concurrent
// use. [Policy.Start] makes one; the zero Schedule has no delays.
type Schedule struct {
	delays backoff.BackOff
}

// Start begins a run through the policy. A loop that never ends, for example one that
// keeps a connection up, starts a new run after each success. For a policy that
// [Policy.Validate] rejects, the first Next reports false.
func (p Policy) Start() *Schedule {
	var delays backoff.BackOff = &backoff.StopBackOff{} // of None
	switch {
	case p.Validate() != nil:
	case p.kind == kindDefault:
		delays = exponential(DefaultInitial, DefaultMax)
	case p.kind == kindExponential:
		delays = exponential(p.delay, p.limit)
	case p.kind == kindConstant:
		delays = backoff.NewConstantBackOff(p.delay)
	}
	return &Schedule{delays}
}

// Next returns the delay before the next attempt, or false if the policy allows none.
func (s *Schedule) Next() (time.Duration, bool) {
	if s.delays == nil {
		return 0, false
	}
	d := s.delays.NextBackOff()
	return max(d, 0), d != backoff.Stop
}

// exponential is the growing policy with random delays. The library limits the average,
// not the random delay, so the average must stay below the limit. If delays were cut at
// the limit instead, a third of them would be exactly that long, and clients would
// retry at the same moment again.
func exponential(initial, max time.Duration) *backoff.ExponentialBackOff {
	highest := time.Duration(float64(max) / (1 + jitter))
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(min(initial, highest)),
		backoff.WithMaxInterval(highest),
		backoff.WithMultiplier(growth),
		backoff.WithRandomizationFactor(jitter),
		backoff.WithMaxElapsedTime(0), // only the context ends it
	)
}
