package leasetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An Acquirer is a lease.Acquirer in memory. The zero value is a free mutex; set the
// fields before it is first used. It is safe for concurrent use, and must not be
// copied. All calls of Acquire on one value contend with each other.
type Acquirer struct {
	// Path is the path of the recipe; "" is "/leasetest".
	Path string
	// Permits is 0 for a mutex: one lease at a time, whose context re-enters. Otherwise
	// it is the size of a semaphore: so many leases at a time, of one permit each,
	// which are not re-entered.
	Permits int

	mu       sync.Mutex // guards what follows, and all contenders
	root     contender
	token    lease.Token // the last one given
	failures []error     // of the next calls of Acquire
	confirm  error       // of all calls of Confirm
}

var _ lease.Acquirer = (*Acquirer)(nil)

// NewLease returns a lease, for code that is only given one, and the Acquirer that
// controls it. It panics if ctx has ended.
func NewLease(ctx context.Context) (*lease.Lease, *Acquirer) {
	a := &Acquirer{}
	held, err := a.Acquire(ctx, 0)
	if err != nil {
		panic(fmt.Errorf("leasetest.NewLease: %w", err))
	}
	return held, a
}

// FailNext makes the next call of Acquire fail with err, in the form of a recipe:
// wrapped, and lease.ErrTimeout as a lease.TimeoutError. Called twice, it is for the
// next two calls. nil lets a call pass.
func (a *Acquirer) FailNext(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures = append(a.failures, err)
}

// FailConfirm makes every Confirm of a valid lease fail with err, wrapped, as if no
// server answered. nil ends that.
func (a *Acquirer) FailConfirm(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.confirm = err
}

// Lose ends all leases that are valid, for a reason such as framework.ErrSessionLost:
// each ends with a lease.LossError of that reason; nil is lease.ErrDeleted. Calls of
// Acquire that wait are granted then.
func (a *Acquirer) Lose(reason error) {
	reason = cmp.Or(reason, lease.ErrDeleted)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.holds() {
		h.lose(a.path(), reason)
	}
	a.root.queue = slices.DeleteFunc(a.root.queue, func(c *contender) bool { return c.holds })
	a.admit(&a.root)
}

// RequestRevocation requests the revocation of all leases that are valid, as
// lease.RequestRevocation does of one.
func (a *Acquirer) RequestRevocation() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.holds() {
		if !h.requested {
			h.requested = true
			close(h.revocation)
		}
	}
}

// Held returns how many leases are valid. All that re-entered one count as one.
func (a *Acquirer) Held() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.holds())
}

// Waiting returns how many calls of Acquire wait for a lease. Forks that wait for each
// other do not count.
func (a *Acquirer) Waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.root.queue) - len(a.holds())
}

// Acquire implements lease.Acquirer. It fails with framework.ErrInvalidArgument if Path
// or Permits makes no sense.
func (a *Acquirer) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	start := time.Now()
	c, err := a.join(ctx)
	if err != nil {
		return nil, err
	}
	waited := time.Duration(0)
	if timeout > 0 {
		c.contender.await(ctx, timeout)
		waited = time.Since(start)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refusal(ctx, c.contender, waited); err != nil {
		c.giveUp(err)
		return nil, err
	}
	return lease.New(c), nil
}

// refusal returns why a contender is not granted what it waited for, nil if it is.
func (a *Acquirer) refusal(ctx context.Context, c *contender, waited time.Duration) error {
	switch {
	case c.isLost():
		return a.failed(c.hold.loss)
	case c.holds && ctx.Err() == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return a.failed(context.Cause(ctx))
	}
	timeout := &lease.TimeoutError{Path: a.path(), Waited: waited, Ahead: -1, Cause: context.Cause(ctx)}
	if !c.holds {
		timeout.Ahead = slices.Index(c.above.queue, c)
		timeout.Holder, timeout.Node = lease.Holder{Who: "leasetest"}, nodeOf(c.above.queue[0].hold.token)
	}
	return timeout
}

// misused returns which field makes no sense.
func (a *Acquirer) misused() error {
	err := framework.ValidatePath(a.path())
	switch {
	case err != nil:
		return fmt.Errorf("leasetest.Acquirer: %w: Path: %w", framework.ErrInvalidArgument, err)
	case a.Path == "/":
		return fmt.Errorf("leasetest.Acquirer: %w: Path: no recipe is at \"/\"", framework.ErrInvalidArgument)
	case a.Permits < 0:
		return fmt.Errorf("leasetest.Acquirer: %w: Permits is %d: give 0 for a mutex, or the size of a semaphore", framework.ErrInvalidArgument, a.Permits)
	}
	return nil
}

// failed is the error of an Acquire, unless its time was up.
func (a *Acquirer) failed(err error) error { return fmt.Errorf("acquire %s: %w", a.path(), err) }

func (a *Acquirer) path() string { return cmp.Or(a.Path, "/leasetest") }

func nodeOf(token lease.Token) string { return fmt.Sprintf("lock-%010d", token) }
