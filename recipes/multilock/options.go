package multilock

import (
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// The default wait limits: about DefaultWaitLimit at first, growing up to
// DefaultMaxWaitLimit.
const (
	DefaultWaitLimit    = time.Second
	DefaultMaxWaitLimit = 10 * time.Second
)

// An Option changes how a multi-lock is acquired.
type Option func(*options)

type options struct{ limits retry.Policy }

// WithWaitLimit sets how long a call of Acquire waits for a lock while it holds others:
// half of a delay of the policy or more, but not more than all of it, in one try. When
// that has passed, all locks are released, and after an eighth of that time, at most a
// second, the next try begins. The timeout of Acquire bounds all of them together.
// While none of its locks is held there is no other limit than that timeout.
//
// The default, which the zero policy stands for, grows from DefaultWaitLimit to
// DefaultMaxWaitLimit, with jitter. A limit is the longest time for which clients that
// take the locks in different orders wait for each other. With retry.None there is no
// limit: then all clients must take the locks in the same order.
func WithWaitLimit(p retry.Policy) Option { return func(o *options) { o.limits = p } }
