package retry

import (
	"fmt"
	"time"
)

// The default policy, which is the zero [Policy]: short enough at first to ride over a
// reconnect unnoticed, and at its longest still several attempts within a common
// session timeout.
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
	kindForever
	kindNone
)

// Policy says how long to wait between attempts, and whether there is more than one. It
// is an immutable value: copy it freely, share it between goroutines, start as many
// loops from it as you like. The zero Policy is the default:
// Exponential(DefaultInitial, DefaultMax).
//
// No policy counts attempts or time. What bounds a loop is its context.
//
// The constructors accept anything; [Policy.Validate] says what is wrong.
type Policy struct {
	kind  kind
	delay time.Duration // Exponential (average first delay), Forever
	limit time.Duration // Exponential (longest delay)
}

// Exponential waits about initial before the second attempt and half as long again
// before each further one, never longer than max. It has no end but that of the
// context.
//
// Each delay is drawn at random from 50 % to 150 % of its average, so that many clients
// that failed at one moment do not come back at one moment. The averages level off at
// two thirds of max, which keeps that spread at the top too: there, delays lie between
// a third of max and max.
func Exponential(initial, max time.Duration) Policy {
	return Policy{kind: kindExponential, delay: initial, limit: max}
}

// Forever makes attempts, each after the same delay, until the context ends. It has no
// jitter: prefer [Exponential] where many clients may fail at one moment.
func Forever(delay time.Duration) Policy {
	return Policy{kind: kindForever, delay: delay}
}

// None makes no further attempt after the first.
func None() Policy {
	return Policy{kind: kindNone}
}

// Validate returns an error that names the value that makes no sense, or nil. [Do] and
// [DoIdempotent] call it before their first attempt; call it yourself where a policy
// comes in with a configuration, to fail early.
func (p Policy) Validate() error {
	switch {
	case p.kind == kindExponential && p.delay <= 0:
		return fmt.Errorf("retry policy: exponential: initial delay is %v, must be positive", p.delay)
	case p.kind == kindExponential && p.limit < p.delay:
		return fmt.Errorf("retry policy: exponential: longest delay %v is less than initial delay %v", p.limit, p.delay)
	case p.kind == kindForever && p.delay <= 0: // it would burn this machine and flood the other
		return fmt.Errorf("retry policy: forever: delay is %v, must be positive", p.delay)
	}
	return nil
}
