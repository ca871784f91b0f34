package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// lost is a claim that is lost from the beginning, with the methods that the test
// needs.
type lost struct {
	lease.Claim
	ctx context.Context
}

func (l lost) Context() context.Context { return l.ctx }
func (lost) Token() lease.Token         { return 7 }
func (lost) Release() error             { return &lease.LossError{Path: "/x", Token: 7, Reason: lease.ErrMaxHold} }

// Acquire implements lease.Acquirer.
func (l lost) Acquire(ctx context.Context, _ time.Duration) (*lease.Lease, error) {
	l.ctx = ctx
	return lease.New(l), nil
}

// A lease may have another implementation than those of the recipes.
func TestLeaseOfAnotherClaim(t *testing.T) {
	t.Parallel()
	err := lease.Do(t.Context(), lost{}, 0, func(_ context.Context, held *lease.Lease) error {
		require.Equal(t, lease.Token(7), held.Token())
		return nil
	})
	require.ErrorIs(t, err, lease.ErrLost)
	require.ErrorIs(t, err, lease.ErrMaxHold)
	var loss *lease.LossError
	require.ErrorAs(t, err, &loss)
	require.Equal(t, "lease lost: /x, token 7, after 0s: its maximum hold time passed", err.Error())
}
