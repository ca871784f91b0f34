package lease

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Token is a fencing token. Of two leases on one path, the later one has the greater
// token, for the life of the ensemble, also when the path was deleted and made again:
// it is the id of the transaction that created the lease's znode. A store that refuses
// any token smaller than the greatest it has seen is safe even from a holder that was
// paused and does not know that it lost its lease. If what is written depends on what
// was read, the store has to see the token with the read already: else a late write can
// come between the next holder's read and its write. All requests of one holder have
// the same token: after an answer that never came, release, and acquire again, before
// you look. Leases on different paths may have equal tokens.
type Token int64

// String returns the token as a decimal number.
func (t Token) String() string { return strconv.FormatInt(int64(t), 10) }

// A Lease is what all recipes return from Acquire: the right to a lock (a mutex, a read
// or write lock, permits, a term) until it is released or lost. It is valid while Err
// returns nil, and safe for concurrent use.
//
// A nil or zero Lease holds nothing: its methods return framework.ErrInvalidArgument,
// so that its Err is never nil, or panic with it if they return no error.
type Lease struct{ claim Claim }

// Context derives from the context given to Acquire, and ends when that does, when the
// lease is released, or when it is lost. context.Cause then returns, in that order, the
// caller's cause, an ErrReleased or an ErrLost. It carries the ownership of the lock:
// Acquire with it, or with one derived from it, re-enters. Goroutines that share it are
// one owner, and do not exclude each other: see Fork.
//
// The end of the caller's context does not release the lease: the work ends first, then
// the lease is released. Done is closed when it is over.
func (l *Lease) Context() context.Context { return l.must().Context() }

// Done returns a channel that is closed when the lease is over: released or lost.
// Unlike Context, it does not end with the context given to Acquire. Err then says
// which.
func (l *Lease) Done() <-chan struct{} { return l.must().Done() }

// Err returns nil while the lease is valid, and then why it is not: ErrReleased or
// ErrLost. It asks no server. It looks at the clock, so it knows at once when the trust
// deadline has passed, even in a process that has just been woken.
func (l *Lease) Err() error {
	claim, err := l.made()
	if err != nil {
		return err
	}
	return claim.Err()
}

// Release gives the lease up, and the lock with the last lease on it. It returns nil if
// the lease was valid until now, ErrLost if it was not, and ErrReleased if it was
// released before, so that a second, deferred call is harmless.
//
// It needs no context, so it works in a deferred call after cancellation, and takes at
// most a third of the session timeout, and before that what remains of a minimum hold
// time (WithMinHold), unless the session ends or the client is closed. If the server
// does not confirm the removal of the znode in that time, it goes on in the background
// until it is confirmed or the session is over. A framework.ErrNoAuth means that the
// path's ACL does not allow the removal, so that the lock stays taken, at least for
// other clients.
func (l *Lease) Release() error {
	claim, err := l.made()
	if err != nil {
		return err
	}
	return claim.Release()
}

// ReleaseAsync is Release that does not wait for the server's answer: it returns when
// the removal of the znode has its place among the requests of the connection. So a
// goroutine that takes one lock after another saves a round trip for each: the removal
// travels together with what the client sends next, and is carried out first, unless
// the connection breaks.
//
// The removal is as certain as that of Release: if there is no answer it goes on in the
// background, until it is confirmed or the session is over. But a process that ends at
// once may not have sent it: close the client, or the lock stays taken until the
// session expires. And the error is what the client knows without asking. That another
// client had just deleted the znode, so that the lease was lost, or that the path's ACL
// does not allow the removal, is only logged, as a warning: use Release where you have
// to know that the lease was valid until now.
//
// Where the removal cannot be sent at once, ReleaseAsync does what Release does. So it
// waits while too many requests are under way (framework.Config.MaxOutstanding), and
// for a lease that has several znodes or a lock-delay. Without a connection neither of
// them waits.
func (l *Lease) ReleaseAsync() error {
	claim, err := l.made()
	if err != nil {
		return err
	}
	return claim.ReleaseAsync()
}

// Token returns the fencing token, which all leases on one hold share. A lease on
// several locks, as that of a multilock.Lock, has no token of its own, because those of
// different paths cannot be compared: it returns 0, and Tokens has those of its locks.
func (l *Lease) Token() Token { return l.must().Token() }

// Tokens returns the fencing tokens of all locks that the lease is on, in the order in
// which these were given to multilock.New. Of a lease on one lock that is its Token.
func (l *Lease) Tokens() []Token { return l.must().Tokens() }

// Path returns the lease's znode, the first if it has several, without the client's
// chroot and namespace.
func (l *Lease) Path() string { return l.must().Path() }

// Check returns an operation for framework.Client.Multi, on any view of the same
// client, that makes the whole transaction fail with framework.ErrNoNode unless all
// znodes of the lease exist when it commits. Writes to ZooKeeper itself are then safe
// even from a holder that does not know that it lost its lease. When the lease on the
// lock was released the transaction fails, without being sent, in this process. Of a
// lease on the locks of several clients it always fails, with
// framework.ErrInvalidArgument.
func (l *Lease) Check() framework.Op { return l.must().Check() }

// Confirm asks the ensemble, through its leader, whether the lease is valid; it costs
// one round trip. nil means that it was valid at some moment during the call. ErrLost
// and ErrReleased mean that it was not; any other error, such as the cause of ctx, that
// there was no answer.
//
// A client hands a lock over to its own next waiter while the znode of the last holder
// is being deleted. Until it is, a transaction with Check of that holder's lease may
// still commit if another process sends it, or if it was under way. When Confirm has
// returned nil it cannot: Confirm waits for the deletions first. If a server refuses
// one, that is the error.
func (l *Lease) Confirm(ctx context.Context) error {
	claim, err := l.made()
	if err != nil {
		return err
	}
	return claim.Confirm(ctx)
}

// TrustedUntil returns the time at which the lease will be lost if no server answers
// any more, or none that has a quorum. While the ensemble answers it moves forward,
// about every twelfth of the session timeout, and is then about half a timeout away.
func (l *Lease) TrustedUntil() time.Time { return l.must().TrustedUntil() }

// RevocationRequested returns a channel that is closed when a client has called
// RequestRevocation for this lease. The holder decides what to do: the lease stays
// valid until it is released. All leases of one hold see the request at once. A hold of
// only a few milliseconds may miss it.
func (l *Lease) RevocationRequested() <-chan struct{} { return l.must().RevocationRequested() }

// made returns what the lease is made of, if it is made.
func (l *Lease) made() (Claim, error) {
	if l == nil || l.claim == nil {
		return nil, fmt.Errorf("%w: a nil or zero lease.Lease: was the error of Acquire checked?", framework.ErrInvalidArgument)
	}
	return l.claim, nil
}

func (l *Lease) must() Claim {
	claim, err := l.made()
	if err != nil {
		panic(err)
	}
	return claim
}
