package leasetest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A claim is what a fake lease is made of.
type claim struct {
	a         *Acquirer
	contender *contender
	ctx       context.Context
	cancel    context.CancelCauseFunc
	done      chan struct{}
	released  bool
}

func (a *Acquirer) newClaim(ctx context.Context, of *contender) *claim {
	c := &claim{a: a, contender: of, done: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(owner.Bind(ctx, c))
	return c
}

// begin counts a claim.
func (c *claim) begin() {
	c.contender.open++
	c.contender.hold.claims[c] = struct{}{}
}

// end says that the claim is over. It is called once.
func (c *claim) end(cause error) {
	delete(c.contender.hold.claims, c)
	c.cancel(cause)
	close(c.done)
}

// drop gives the claim up. With the last one its contender leaves the queue, and so on
// upwards.
func (c *claim) drop() {
	c.released = true
	if _, open := c.contender.hold.claims[c]; open {
		c.end(c.releasedError())
	}
	for at := c.contender; at.above != nil; at = at.above {
		if at.open--; at.open > 0 {
			return
		}
		c.a.leave(at)
	}
}

// giveUp drops a claim that Acquire does not return.
func (c *claim) giveUp(cause error) {
	c.cancel(cause)
	if c.contender.holds {
		c.drop()
	} else {
		c.a.leave(c.contender)
	}
}

func (c *claim) releasedError() error { return fmt.Errorf("%s: %w", c.Path(), lease.ErrReleased) }

// Context implements lease.Claim.
func (c *claim) Context() context.Context { return c.ctx }

// Done implements lease.Claim.
func (c *claim) Done() <-chan struct{} { return c.done }

// Token implements lease.Claim.
func (c *claim) Token() lease.Token { return c.contender.hold.token }

// Tokens implements lease.Claim.
func (c *claim) Tokens() []lease.Token { return []lease.Token{c.Token()} }

// Path implements lease.Claim.
func (c *claim) Path() string { return c.a.path() + "/" + nodeOf(c.Token()) }

// RevocationRequested implements lease.Claim.
func (c *claim) RevocationRequested() <-chan struct{} { return c.contender.hold.revocation }

// Check implements lease.Claim: no server has the znode.
func (c *claim) Check() framework.Op { return framework.CheckOp(c.Path(), framework.AnyVersion) }

// Err implements lease.Claim.
func (c *claim) Err() error {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	if c.released {
		return c.releasedError()
	}
	return c.contender.hold.loss
}

// trust is how long a lease is valid without a server: half the usual session timeout.
const trust = 5 * time.Second

// TrustedUntil implements lease.Claim.
func (c *claim) TrustedUntil() time.Time {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	if c.contender.isLost() {
		return c.contender.hold.lostAt
	}
	return time.Now().Add(trust)
}

// Confirm implements lease.Claim.
func (c *claim) Confirm(ctx context.Context) error {
	if err := c.Err(); err != nil {
		return err
	}
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	if err := cmp.Or(context.Cause(ctx), c.a.confirm); err != nil {
		return fmt.Errorf("confirm %s: %w", c.Path(), err)
	}
	return nil
}

// Release implements lease.Claim.
func (c *claim) Release() error {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	if c.released {
		return c.releasedError()
	}
	c.drop()
	return c.contender.hold.loss
}

// ReleaseAsync implements lease.Claim.
func (c *claim) ReleaseAsync() error { return c.Release() }
