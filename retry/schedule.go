package retry

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	// jitter is how far a delay may lie from its average, as a part of it.
	jitter = 0.5

	// growth is the ratio between one average and the next.
	growth = 1.5
)

// Schedule is one run through a [Policy]: the delays of one loop, in order. It is for
// callers with a loop of their own; [Do] has one inside. It starts no goroutine and
// needs no stop. It is not safe for concurrent use.
type Schedule struct {
	delays backoff.BackOff
}

// Start begins a run through the policy. A loop without an end, such as one that keeps
// a connection up, starts another after each success. A policy that does not pass
// [Policy.Validate] gives a schedule without delays, whose first Next reports false.
func (p Policy) Start() *Schedule {
	var delays backoff.BackOff = &backoff.StopBackOff{} // of None
	switch {
	case p.Validate() != nil:
	case p.kind == kindDefault:
		delays = exponential(DefaultInitial, DefaultMax)
	case p.kind == kindExponential:
		delays = exponential(p.delay, p.limit)
	case p.kind == kindForever:
		delays = backoff.NewConstantBackOff(p.delay)
	}
	return &Schedule{delays}
}

// Next returns the delay to wait before the next attempt, or false if the policy allows
// no further one.
func (s *Schedule) Next() (time.Duration, bool) {
	d := s.delays.NextBackOff()
	return max(d, 0), d != backoff.Stop
}

// exponential is the jittered growing policy. The library caps the average and not the
// drawn delay, so the average has to stop short of the cap. Cutting the draws off at
// the cap instead would bunch a third of them exactly there, which is the very herd
// that jitter is to break up.
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
