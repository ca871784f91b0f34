package rwlock

import (
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// An Option changes how a lock is used through one value of it.
type Option func(*options)

type options struct {
	who   string
	terms hold.Terms
}

// WithHolder labels this process in the queue, for people who look up who holds the
// lock. The default is the program's name, and a label has at most 1024 bytes.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold. The znode goes
// when the lease is released, or a sixth of the session timeout later, whichever comes
// first, so that work has a moment to stop. Re-entering does not prolong it. After a
// downgrade the maximum hold time starts again. 0 is no limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.terms.MaxHold = d } }

// WithMinHold keeps the lock taken for at least that time after it was granted: Release
// then ends the lease at once, and waits for the rest of the time before it frees
// the lock; ReleaseAsync leaves that to the background. So work that takes no time is
// not done twice by processes whose clocks differ a little. The end of the process, or
// Close of the client, frees the lock sooner, as the loss of the lease does. It is not
// longer than the maximum hold time, if there is one. 0 is none.
func WithMinHold(d time.Duration) Option { return func(o *options) { o.terms.MinHold = d } }

// WithLockDelay keeps the lock closed for that time when a lease was lost: because
// its process was killed or cut off, its znode was deleted, or its maximum hold time
// has passed. What the holder had sent elsewhere by then has time to arrive. All who
// give a delay for one path have to give the same: see "Minimum hold time and
// lock-delay" in package lease. 0 is none.
func WithLockDelay(d time.Duration) Option { return func(o *options) { o.terms.LockDelay = d } }
