package rwlock

import "time"

// An Option changes how a lock is used through one value of it.
type Option func(*options)

type options struct {
	who     string
	maxHold time.Duration
}

// WithHolder labels this process in the queue, for people who look up who holds the
// lock. The default is the program's name, and a label has at most 1024 bytes.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold. The znode goes
// when the lease is released, or a sixth of the session timeout later, whichever comes
// first, so that work has a moment to stop. Re-entering does not prolong it. After a
// downgrade the maximum hold time starts again. 0 is no limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.maxHold = d } }
