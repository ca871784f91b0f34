package retry

import (
	"fmt"
	"time"
)

// The default policy, which is the zero [Policy]: short enough at first to ride
// over a reconnect unnoticed, and at its longest still several attempts within
// a common session timeout.
const (
	// DefaultInitial is the average first delay of the default policy.
	DefaultInitial = 50 * time.Millisecond

	// DefaultMax is the longest delay of the default policy.
	DefaultMax = 2 * time.Second
)

// kind selects which of the fields of a Policy count.
type kind int

const (
	kindDefault kind = iota // the zero Policy
	kindExponential
	kindFixed
	kindUntilElapsed
	kindForever
	kindNone
)

// Policy says how long to wait between attempts and when to give up. It is an
// immutable value: copy it freely, share it between goroutines, start as many
// loops from it as you like. The zero Policy is the default:
// Exponential(DefaultInitial, DefaultMax).
//
// The constructors accept anything; [Policy.Validate] says what is wrong.
type Policy struct {
	kind    kind
	retries int           // Fixed
	delay   time.Duration // Exponential (average first delay), Fixed, UntilElapsed, Forever
	limit   time.Duration // Exponential (longest delay), UntilElapsed (whole loop)
}

// Exponential waits about initial before the second attempt and half as long
// again before each further one, never longer than max. It has no end but that
// of the context.
//
// Each delay is drawn at random from 50 % to 150 % of its average, so that many
// clients that failed at one moment do not come back at one moment. The
// averages level off at two thirds of max, which keeps that spread at the top
// too: there, delays lie between a third of max and max.
func Exponential(initial, max time.Duration) Policy {
	return Policy{kind: kindExponential, delay: initial, limit: max}
}

// Fixed makes at most n further attempts after the first, each after the same
// delay. The delay may be zero. It has no jitter: prefer [Exponential] where
// many clients may fail at one moment.
func Fixed(n int, delay time.Duration) Policy {
	return Policy{kind: kindFixed, retries: n, delay: delay}
}

// UntilElapsed makes further attempts, each after the same delay, as long as
// they begin within limit, counted from the start of the loop. A delay that
// would pass the limit is not begun: the loop ends instead, early rather than
// late. The limit does not interrupt an attempt; a context does.
//
// A limit of zero or less allows no further attempt, so a remaining time that
// was computed and ran below zero never turns into waiting for ever.
func UntilElapsed(limit, delay time.Duration) Policy {
	return Policy{kind: kindUntilElapsed, delay: delay, limit: limit}
}

// Forever makes attempts, each after the same delay, until the context ends.
func Forever(delay time.Duration) Policy {
	return Policy{kind: kindForever, delay: delay}
}

// None makes no further attempt after the first.
func None() Policy {
	return Policy{kind: kindNone}
}

// Validate returns an error that names the value that makes no sense, or nil.
// [Do] and [DoIdempotent] call it before their first attempt; call it yourself
// where a policy comes in with a configuration, to fail early.
func (p Policy) Validate() error {
	switch p.kind {
	case kindDefault, kindNone:
	case kindExponential:
		if p.delay <= 0 {
			return fmt.Errorf("retry policy: exponential: initial delay is %v, must be positive", p.delay)
		}
		if p.limit < p.delay {
			return fmt.Errorf("retry policy: exponential: longest delay %v is less than initial delay %v", p.limit, p.delay)
		}
	case kindFixed:
		if p.retries < 0 {
			return fmt.Errorf("retry policy: fixed: number of further attempts is %d, must not be negative", p.retries)
		}
		if p.delay < 0 {
			return fmt.Errorf("retry policy: fixed: delay is %v, must not be negative", p.delay)
		}
	case kindUntilElapsed:
		return p.validatePause("until elapsed")
	case kindForever:
		return p.validatePause("forever")
	}
	return nil
}

// validatePause refuses a zero delay where no count bounds the loop: it would
// do nothing but burn this machine and flood the other.
func (p Policy) validatePause(name string) error {
	if p.delay <= 0 {
		return fmt.Errorf("retry policy: %s: delay is %v, must be positive", name, p.delay)
	}
	return nil
}
