package once

import (
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// An Option changes how a job is used through one value of it.
type Option func(*options)

type options struct {
	who       string
	terms     hold.Terms
	retention time.Duration
}

// DefaultRetention is how long records are kept without WithRetention.
const DefaultRetention = 24 * time.Hour

// minRetention is longer than a session takes to end, and than clocks are apart.
const minRetention = time.Minute

// WithRetention keeps the records of finished runs for that time, a minute at least,
// instead of DefaultRetention. It must be longer than any run, and than the clocks of
// two machines are apart. Processes should agree: the shortest one is what counts.
func WithRetention(d time.Duration) Option { return func(o *options) { o.retention = d } }

// WithHolder labels this process in the queues and the records, for people who look up
// who runs a job. The default is the program's name, and a label has at most 1024
// bytes.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold, so that a run
// that hangs is begun again by another process. 0 is no limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.terms.MaxHold = d } }

// WithLockDelay keeps the run closed for that time when a lease was lost: because
// its process was killed or cut off, its znode was deleted, or its maximum hold time
// has passed. What the holder had sent elsewhere by then has time to arrive. All who
// give a delay for one path have to give the same: see "Minimum hold time and
// lock-delay" in package lease. 0 is none.
func WithLockDelay(d time.Duration) Option { return func(o *options) { o.terms.LockDelay = d } }
