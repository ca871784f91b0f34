package semaphore

import (
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// An Option changes how a semaphore is used through one value of it.
type Option func(*options)

type options struct {
	who    string
	terms  hold.Terms
	single bool
	adopts bool
}

// WithHolder labels this process in the queue, for people who look up who holds the
// permits. The default is the program's name, and a label has at most 1024 bytes.
func WithHolder(who string) Option { return func(o *options) { o.who = who } }

// WithMaxHold ends every lease after that time with lease.ErrMaxHold. The znodes go
// when the lease is released, or a sixth of the session timeout later, whichever comes
// first, so that work has a moment to stop. 0 is no limit.
func WithMaxHold(d time.Duration) Option { return func(o *options) { o.terms.MaxHold = d } }

// WithMinHold keeps the permits taken for at least that time after it was granted:
// Release then ends the lease at once, and waits for the rest of the time before it
// frees the permits; ReleaseAsync leaves that to the background. So work that takes no
// time is not done twice by processes whose clocks differ a little. The end of the
// process, or Close of the client, frees the permits sooner, as the loss of the lease
// does. It is not longer than the maximum hold time, if there is one. 0 is none.
func WithMinHold(d time.Duration) Option { return func(o *options) { o.terms.MinHold = d } }

// WithLockDelay keeps the permits closed for that time when a lease was lost: because
// its process was killed or cut off, its znode was deleted, or its maximum hold time
// has passed. What the holder had sent elsewhere by then has time to arrive. All who
// give a delay for one path have to give the same: see "Minimum hold time and
// lock-delay" in package lease. It needs WithSingleQueue. 0 is none.
func WithLockDelay(d time.Duration) Option { return func(o *options) { o.terms.LockDelay = d } }

// WithSingleQueue keeps holders and waiting clients in one queue, each with one znode
// however many permits it is for. That saves a write for each permit and a round trip
// or two, but Curator does not know this layout. All users of a path must choose the
// same one: while it is in use with the other, a client gets ErrOtherLayout.
func WithSingleQueue() Option { return func(o *options) { o.single = true } }

// WithStoredSize adopts the size that the path stores, whatever it is: there is no
// ErrSizeMismatch. The number that New was given is stored only where no size is. So
// Resize can change the size of programs that all start with the same number, and those
// that start later follow. Of clients that come first at the same time with different
// numbers, one stores its own, and the others adopt that.
func WithStoredSize() Option { return func(o *options) { o.adopts = true } }
