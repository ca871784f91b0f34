package leader

import (
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// The default backoff of Lead: about DefaultInitialBackoff after the first failure,
// growing up to DefaultMaxBackoff.
const (
	DefaultInitialBackoff = 100 * time.Millisecond
	DefaultMaxBackoff     = 15 * time.Second
)

// An Option changes how an election is used through one value of it.
type Option func(*options)

type options struct {
	id, who string
	maxHold time.Duration
	backoff retry.Policy
}

// WithID sets the candidate's id: the whole text that others see of it, as with
// Curator's LeaderLatch. It is UTF-8 of at most 1024 bytes, and need not be unique. The
// default, which "" stands for, is host:pid, as in "db1:4711", with the label of
// WithHolder before it.
func WithID(id string) Option { return func(o *options) { o.id = id } }

// WithHolder labels this process in the queue, for people who look up who holds the
// term. A label has at most 1024 bytes. A candidate's znode stores nothing but its id,
// so the label is a part of that, as in "billing@db1:4711"; an id given by WithID
// replaces it. By default there is no label.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold. The znode goes
// when the lease is released, or a sixth of the session timeout later, whichever comes
// first, so that work has a moment to stop. Re-entering does not prolong it. 0 is no
// limit. It makes leadership rotate.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.maxHold = d } }

// WithBackoff sets the delays between the campaigns of Lead after failures: see Lead.
// The default, which the zero policy stands for, grows from DefaultInitialBackoff to
// DefaultMaxBackoff, with jitter. With retry.None Lead ends with the first failure.
func WithBackoff(p retry.Policy) Option { return func(o *options) { o.backoff = p } }
