package semaphore

import "time"

// An Option changes how a semaphore is used through one value of it.
type Option func(*options)

type options struct {
	who     string
	maxHold time.Duration
	single  bool
}

// WithHolder labels this process in the queue, for people who look up who holds the
// permits. The default is the program's name, and a label has at most 1024 bytes.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold. The znodes go
// when the lease is released, or a sixth of the session timeout later, whichever comes
// first, so that work has a moment to stop. 0 is no limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.maxHold = d } }

// WithSingleQueue keeps holders and waiting clients in one queue, each with one znode
// however many permits it is for. That saves a write for each permit and a round trip
// or two, but Curator does not know this layout. All users of a path must choose the
// same one: while it is in use with the other, a client gets ErrOtherLayout.
func WithSingleQueue() Option { return func(o *options) { o.single = true } }
