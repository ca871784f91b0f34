package conformance

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A FirstToken is an Acquirer whose leases are on several locks, and have the token of
// the first as their Token, for tests that compare tokens.
type FirstToken struct{ lease.Acquirer }

// Acquire returns such a lease.
func (a FirstToken) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, err := a.Acquirer.Acquire(ctx, timeout)
	if err != nil {
		return nil, err
	}
	return lease.New(firstTokenClaim{held}), nil
}

type firstTokenClaim struct{ *lease.Lease }

// Token is that of the first lock.
func (c firstTokenClaim) Token() lease.Token { return c.Tokens()[0] }
