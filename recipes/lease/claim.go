package lease

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Claim is for implementers of a Lease: users get leases from Acquire. The recipes
// have a Claim of their own. Another may stand for several locks, as one lease on
// several mutexes does. For fakes see package leasetest.
//
// An implementation promises that it is safe for concurrent use, that it is valid when
// it is given to New, and that it ends once: released, or lost before that. One for
// several locks is valid as long as all of them are.
type Claim interface {
	// Context derives from the context that the claim was made with, and ends with the
	// claim, with the cause that Err then returns. Whether Acquire with it re-enters
	// depends on the contexts that it derives from.
	Context() context.Context
	// Done always returns the same channel. It is closed once the claim is known to be
	// over, released or lost. Err then is not nil.
	Done() <-chan struct{}
	// Token is the same for the whole life of the claim. One for several locks, each of
	// which has a token, returns 0.
	Token() Token
	// Tokens are those of all locks; for one lock that of Token. The caller may change
	// the slice.
	Tokens() []Token
	// Path is that of the znode; of the first if there are several.
	Path() string
	// Err returns nil only while no other client can have been granted the lock: it
	// looks at the clock, and does not rely on events alone. After that it is an
	// ErrReleased, or an ErrLost, which should be a LossError. It does not block.
	Err() error
	// TrustedUntil is the earliest time at which the claim may be lost if no server
	// answers any more.
	TrustedUntil() time.Time
	// Confirm asks the ensemble for all locks. If one is not held the claim is lost.
	Confirm(ctx context.Context) error
	// RevocationRequested always returns the same channel. It is closed at the first
	// request for revocation, and never if there can be none.
	RevocationRequested() <-chan struct{}
	// Check fails unless all znodes exist.
	Check() framework.Op
	// Release ends the claim before another client is admitted. It takes a bounded
	// time, and returns ErrReleased when called again.
	Release() error
	// ReleaseAsync is Release, but need not wait for a server.
	ReleaseAsync() error
}

// New returns the lease on a claim. It is for implementers: users get leases from
// Acquire.
func New(claim Claim) *Lease { return &Lease{claim} }
