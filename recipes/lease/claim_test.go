package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A paper is a claim that is lost from the beginning. What nobody asks it has not.
type paper struct {
	lease.Claim
	ctx context.Context
}

func (p paper) Context() context.Context { return p.ctx }
func (paper) Token() lease.Token         { return 7 }
func (paper) Release() error             { return &lease.LossError{Path: "/x", Token: 7, Reason: lease.ErrMaxHold} }

// Acquire implements lease.Acquirer.
func (p paper) Acquire(ctx context.Context, _ time.Duration) (*lease.Lease, error) {
	p.ctx = ctx
	return lease.New(p), nil
}

// Work that is given a lease can be tested without a server.
func TestLeaseOfAClaimOfOnesOwn(t *testing.T) {
	t.Parallel()
	err := lease.Do(t.Context(), paper{}, 0, func(_ context.Context, held *lease.Lease) error {
		require.Equal(t, lease.Token(7), held.Token())
		return nil
	})
	require.ErrorIs(t, err, lease.ErrLost)
	require.ErrorIs(t, err, lease.ErrMaxHold)
	var loss *lease.LossError
	require.ErrorAs(t, err, &loss)
	require.Equal(t, "lease lost: /x, token 7, after 0s: its maximum hold time passed", err.Error())
}
