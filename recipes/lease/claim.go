package lease

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Claim is what a Lease is made of, and what every Lease is. The recipes have one of
// their own. Others are for a lease that stands for several places, and for tests of
// code that is given one.
//
// An implementation promises that it is safe for concurrent use, that it is valid when
// it is given to New, and that it ends once: by the first Release, or lost before that.
// One for several places is valid as long as all of them are.
type Claim interface {
	// Context derives from the one that the claim was made with, and ends with the
	// claim. The cause is then what Err returns. Whether an Acquire with it enters
	// again is decided by the contexts that it derives from.
	Context() context.Context
	// Done always returns the same channel. It is closed once the claim is known to be
	// over, released or lost, and then Err is not nil.
	Done() <-chan struct{}
	// Token is the same for the whole life of the claim. One for several places, each
	// of which has its own, returns 0.
	Token() Token
	// Path is that of the znode; of the first if there are several.
	Path() string
	// Err returns nil only while nobody else can have been let in: it asks the clock,
	// not only what it has been told. After that it is an ErrReleased, or an ErrLost,
	// which should be a LossError. It does not block.
	Err() error
	// TrustedUntil is the earliest time at which the claim may end unless more is
	// heard.
	TrustedUntil() time.Time
	// Confirm asks the ensemble for all that is claimed. If it does not stand the claim
	// is lost.
	Confirm(ctx context.Context) error
	// RevocationRequested always returns the same channel. It is closed at the first
	// request for revocation, and never if there can be none.
	RevocationRequested() <-chan struct{}
	// Check fails unless the znode at Path stands. An Op is for one node, so that of a
	// claim for several places says nothing of the others.
	Check() framework.Op
	// Release ends the claim before it lets anybody else in. It takes a bounded time,
	// and returns ErrReleased when called again.
	Release() error
}

// New returns the lease on a claim. Users of recipes get theirs from an Acquire.
func New(claim Claim) *Lease { return &Lease{claim} }
