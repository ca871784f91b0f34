package retry

import (
	"fmt"
	"time"
)

// The delays of the default policy, the zero [Policy]. The first ones are short enough
// for a reconnect to go unnoticed. The longest still allows several attempts within a
// usual session timeout.
const (
	// DefaultInitial is the average first delay of the default policy.
	DefaultInitial = 50 * time.Millisecond

	// DefaultMax is the longest delay of the default policy.
	DefaultMax = 2 * time.Second
)

// kind selects which fields of a Policy count.
type kind int

const (
	kindDefault kind = iota // the zero Policy
	kindExponential
	kindConstant
	kindNone
)

// Policy says how long to wait between attempts, and whether there is more than one. It
// is an immutable value: it may be copied, shared between goroutines and used for any
// number of loops. The zero Policy is the default, Exponential(DefaultInitial,
// DefaultMax).
//
// No policy limits the number of attempts or the time, except [None]. The context does.
//
// The constructors accept any values; [Policy.Validate] reports those that make no
// sense.
type Policy struct {
	kind  kind
	delay time.Duration // Exponential (average first delay), Constant
	limit time.Duration // Exponential (longest delay)
}

// Exponential waits about initial before the second attempt and half as long again
// before each further one, but never longer than max. Only the context ends it.
//
// Each delay is random, from 50 % to 150 % of its average, so that many clients that
// fail at the same moment do not retry at the same moment. The averages grow up to two
// thirds of max. So the longest delays lie between a third of max and max.
func Exponential(initial, max time.Duration) Policy {
	return Policy{kind: kindExponential, delay: initial, limit: max}
}

// Constant makes attempts, each after the same delay, until the context ends. It has no
// random part: prefer [Exponential] where many clients may fail at the same moment.
func Constant(delay time.Duration) Policy {
	return Policy{kind: kindConstant, delay: delay}
}

// None makes no attempt after the first.
func None() Policy {
	return Policy{kind: kindNone}
}

// Validate returns an error that names the value that makes no sense, or nil. [Do] and
// [DoIdempotent] call it before their first attempt. Call it yourself to reject a bad
// configuration early.
func (p Policy) Validate() error {
	switch {
	case p.kind == kindExponential && p.delay <= 0:
		return fmt.Errorf("retry policy: exponential: initial delay is %v, must be positive", p.delay)
	case p.kind == kindExponential && p.limit < p.delay:
		return fmt.Errorf("retry policy: exponential: longest delay %v is less than initial delay %v", p.limit, p.delay)
	case p.kind == kindConstant && p.delay <= 0: // a loop without a pause would flood the server
		return fmt.Errorf("retry policy: constant: delay is %v, must be positive", p.delay)
	}
	return nil
}
