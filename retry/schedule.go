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

// Schedule is one run through a [Policy]: the delays of one loop, in order. It
// is for callers with a loop of their own; [Do] has one inside. It starts no
// goroutine and needs no stop. It is not safe for concurrent use.
type Schedule struct {
	delays backoff.BackOff
}

// Start begins a run through the policy; the time of [UntilElapsed] counts from
// here. A policy that does not pass [Policy.Validate] gives a schedule without
// delays, whose first Next reports false.
func (p Policy) Start() *Schedule {
	if p.Validate() != nil {
		return &Schedule{delays: &backoff.StopBackOff{}}
	}
	constant := backoff.NewConstantBackOff(p.delay)

	s := &Schedule{}
	switch p.kind {
	case kindDefault:
		s.delays = exponential(DefaultInitial, DefaultMax)
	case kindExponential:
		s.delays = exponential(p.delay, p.limit)
	case kindFixed:
		s.delays = backoff.WithMaxRetries(constant, uint64(p.retries))
	case kindUntilElapsed:
		s.delays = &untilElapsed{delegate: constant, limit: p.limit}
	case kindForever:
		s.delays = constant
	default: // kindNone
		s.delays = &backoff.StopBackOff{}
	}
	s.delays.Reset()
	return s
}

// Next returns the delay to wait before the next attempt, or false if the
// policy allows no further one, which then stays so until Reset.
func (s *Schedule) Next() (time.Duration, bool) {
	d := s.delays.NextBackOff()
	if d == backoff.Stop {
		return 0, false
	}
	return d, true
}

// Reset begins the run anew, as after [Policy.Start]. A loop without an end,
// such as one that keeps a connection up, calls it after each success.
func (s *Schedule) Reset() {
	s.delays.Reset()
}

// exponential is the jittered growing policy. The library caps the average and
// not the drawn delay, so the average has to stop short of the cap. Cutting the
// draws off at the cap instead would bunch a third of them exactly there, which
// is the very herd that jitter is to break up.
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

// untilElapsed ends another schedule before it would pass a limit.
type untilElapsed struct {
	delegate backoff.BackOff
	limit    time.Duration
	start    time.Time
}

// NextBackOff implements backoff.BackOff.
func (u *untilElapsed) NextBackOff() time.Duration {
	d := u.delegate.NextBackOff()
	// Compared with what remains rather than added up, which could overflow.
	if d == backoff.Stop || d > u.limit-time.Since(u.start) {
		return backoff.Stop
	}
	return d
}

// Reset implements backoff.BackOff.
func (u *untilElapsed) Reset() {
	u.start = time.Now()
	u.delegate.Reset()
}
