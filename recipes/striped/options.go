package striped

import "time"

// An Option changes how the stripes are used through one value of Locks.
type Option func(*options)

type options struct {
	who     string
	maxHold time.Duration
}

// WithHolder labels this process in the queues, for people who look up who holds a
// stripe. The default is the program's name, and a label has at most 1024 bytes.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold. The znode goes
// when the lease is released, or a sixth of the session timeout later, whichever comes
// first, so that work has a moment to stop. Re-entering does not prolong it. 0 is no
// limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.maxHold = d } }
