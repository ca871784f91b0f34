package lease

import (
	"context"
	"strconv"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/owner"
)

// A Token is a fencing token. Of two leases on one path, the later one has the greater
// token, for the life of the ensemble and also when the path was deleted and made
// again: it is the id of the transaction that created the lease's znode. A store that
// refuses any token smaller than the greatest it has seen is safe even from a holder
// that was paused and does not know that it lost its lease.
type Token int64

// String returns the token as a decimal number.
func (t Token) String() string { return strconv.FormatInt(int64(t), 10) }

// A Lease is one claim on an acquired place. It is valid until it is released or lost,
// and safe for concurrent use. It comes from an Acquire; the zero value is of no use.
type Lease struct{ claim Claim }

// Context derives from the context given to Acquire and ends when that does, when the
// lease is released, or when it is lost; context.Cause then returns, in that order, the
// caller's cause, an ErrReleased or an ErrLost. It carries the ownership of the place:
// Acquire with it, or one derived from it, re-enters. So goroutines that share it are
// one owner, and do not exclude each other: see Fork.
//
// The end of the caller's context does not release the lease: the work ends first, then
// the lease is released. Done tells when it is over.
func (l *Lease) Context() context.Context { return l.claim.Context() }

// Done returns a channel that is closed when the lease is over: released or lost.
// Unlike Context, it does not end with the context given to Acquire. Err then says
// which.
func (l *Lease) Done() <-chan struct{} { return l.claim.Done() }

// Token returns the fencing token, which all leases on one hold share.
func (l *Lease) Token() Token { return l.claim.Token() }

// Path returns the lease's znode, without the client's chroot and namespace.
func (l *Lease) Path() string { return l.claim.Path() }

// Err returns nil while the lease is valid and then why it is not: ErrReleased or
// ErrLost. It looks at the clock, so it knows at once when the trust deadline has
// passed, even in a process that has just been woken. It asks no server.
func (l *Lease) Err() error { return l.claim.Err() }

// TrustedUntil returns the time at which the lease will be lost if no server answers
// any more, or none that has a quorum. While the ensemble answers it moves forward,
// about every twelfth of the session timeout, and is then about half a timeout away.
func (l *Lease) TrustedUntil() time.Time { return l.claim.TrustedUntil() }

// Confirm asks the ensemble, through its leader, whether the lease stands; it costs one
// round trip. nil means that it stood at some moment during the call. ErrLost and
// ErrReleased mean that it did not; any other error, such as the cause of ctx, that
// there was no answer.
func (l *Lease) Confirm(ctx context.Context) error { return l.claim.Confirm(ctx) }

// RevocationRequested returns a channel that is closed when a client has called
// RequestRevocation for this lease. The holder decides what to do: the lease stays
// valid until it is released. All leases of one hold see the request at once. A hold of
// only a few milliseconds may miss it.
func (l *Lease) RevocationRequested() <-chan struct{} { return l.claim.RevocationRequested() }

// Check returns an operation for framework.Client.Multi, on any view of the same
// client, that makes the whole transaction fail with framework.ErrNoNode unless the
// lease's znode stands when it commits. Writes to ZooKeeper itself are then safe even
// from a holder that does not know that it lost its lease.
func (l *Lease) Check() framework.Op { return l.claim.Check() }

// Release gives the lease up, and the place with the last lease on it. It returns nil
// if the lease was valid until now, ErrLost if it was not, and ErrReleased if it was
// released before, so that a second, deferred call is harmless.
//
// It needs no context, so it works in a deferred call after cancellation, and takes at
// most a third of the session timeout. If the server does not confirm in that time the
// znode's removal is carried on in the background until it is confirmed or the session
// is over. A framework.ErrNoAuth means that the path's ACL does not allow its removal,
// so that the place stays taken.
func (l *Lease) Release() error { return l.claim.Release() }

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = time.Duration(1<<63 - 1)

// An Acquirer is what all recipes have in common.
type Acquirer interface {
	// Acquire waits up to timeout for the place and returns a lease on it.
	//
	// ctx is the life of the work: the lease's context derives from it. timeout bounds
	// only the wait, all server time included: a timeout of 0 or less takes the place
	// only if it is free now, Forever waits until ctx ends. With 0 or less it does not
	// wait for a connection, and for answers a third of the session timeout at most;
	// half of it more if a quorum has to vouch for a place that is free. To tell who is
	// in the way, and to leave the line, it may take a tenth of a second more than the
	// timeout.
	//
	// On failure nothing is held, and a znode that may exist on the server is being
	// removed. The error is an ErrTimeout, if ctx has a deadline that passes also one
	// with its cause; the cause of ctx if it was cancelled; an ErrLost if ctx belongs
	// to a lease that was lost; an ErrOtherRecipe or ErrForeignData if the path is
	// somebody else's; framework.ErrClosed as soon as the client is being closed; or
	// another error of the recipe or the framework. An ErrTimeout at whose end no
	// server was reached is a framework.ErrNotConnected as well, which says why, and a
	// framework.ErrAuthFailed if that is why. If the session ends while it waits, it
	// waits again in the next one, at the end of the line.
	Acquire(ctx context.Context, timeout time.Duration) (*Lease, error)
}

// Fork returns a context for work of its own under a lease, such as one of several
// goroutines, that has to exclude its siblings. What it acquires with that context it
// acquires as a new owner, below the owner that ctx belongs to. On a path that the
// latter holds it enters under that hold, one fork at a time, in the order in which
// they asked, in memory: nothing is sent, and the lease has the path and token of the
// hold. Acquire's timeout and context bound the wait. Elsewhere it waits in line like
// any new owner.
//
// The owner above is not excluded by its forks, and must not be: it may be waiting for
// them. Its hold lasts until they have released. If it is lost, so are their leases,
// and those that wait get an ErrLost. Forks may be forked again.
//
// Of a read-write lock, forks of a reader share the lock like readers, and get
// rwlock.ErrUpgrade if they want to write; those of a writer enter one at a time to
// read as well. A semaphore is not re-entered, so forks wait for permits of their own.
//
//	held, err := orders.Acquire(ctx, time.Minute)
//	...
//	for _, part := range parts {
//		workers.Go(func() error { return lease.Do(lease.Fork(held.Context()), orders, lease.Forever, part.book) })
//	}
//
// A context that owns nothing is returned as it is. Fork can be called, and its context
// used, by any number of goroutines; each Acquire with it is an owner of its own.
func Fork(ctx context.Context) context.Context { return owner.Fork(ctx) }

// WithoutOwner returns a context that owns nothing: Acquire with it waits like a
// stranger. Use it for work that is started under a lease but must be excluded by it,
// and never wait for such work under that lease.
func WithoutOwner(ctx context.Context) context.Context { return owner.Without(ctx) }
