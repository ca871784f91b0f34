package leader

import (
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
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
	terms   hold.Terms
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
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.terms.MaxHold = d } }

// WithMinHold keeps the term taken for at least that time after it was granted: Release
// then ends the lease at once, and waits for the rest of the time before it frees
// the term; ReleaseAsync leaves that to the background. So work that takes no time is
// not done twice by processes whose clocks differ a little. The end of the process, or
// Close of the client, frees the term sooner, as the loss of the lease does. It is not
// longer than the maximum hold time, if there is one. 0 is none.
func WithMinHold(d time.Duration) Option { return func(o *options) { o.terms.MinHold = d } }

// WithLockDelay keeps the term closed for that time when a lease was lost: because
// its process was killed or cut off, its znode was deleted, or its maximum hold time
// has passed. What the holder had sent elsewhere by then has time to arrive. All who
// give a delay for one path have to give the same: see "Minimum hold time and
// lock-delay" in package lease. 0 is none.
func WithLockDelay(d time.Duration) Option { return func(o *options) { o.terms.LockDelay = d } }

// WithBackoff sets the delays between the campaigns of Lead after failures: see Lead.
// The default, which the zero policy stands for, grows from DefaultInitialBackoff to
// DefaultMaxBackoff, with jitter. With retry.None Lead ends with the first failure.
func WithBackoff(p retry.Policy) Option { return func(o *options) { o.backoff = p } }
