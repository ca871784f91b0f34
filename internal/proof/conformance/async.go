package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Async returns the recipe whose leases are released by ReleaseAsync.
func Async(r Recipe) Recipe {
	async := func(construct func(c *framework.Client, path string) lease.Acquirer) func(c *framework.Client, path string) lease.Acquirer {
		if construct == nil {
			return nil
		}
		return func(c *framework.Client, path string) lease.Acquirer { return asyncAcquirer{construct(c, path)} }
	}
	r.Name, r.Async = r.Name+", released async", true
	r.New, r.Block, r.Readers = async(r.New), async(r.Block), async(r.Readers)
	return r
}

// requireAnswer requires the error of a release that the server's answer may be needed
// for.
func (r Recipe) requireAnswer(t *testing.T, err, want error) {
	t.Helper()
	if r.Async && err == nil {
		return
	}
	require.ErrorIs(t, err, want)
}

type asyncAcquirer struct{ lease.Acquirer }

// Acquire returns a lease whose Release is ReleaseAsync.
func (a asyncAcquirer) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, err := a.Acquirer.Acquire(ctx, timeout)
	if err != nil {
		return nil, err
	}
	return lease.New(asyncClaim{held}), nil
}

type asyncClaim struct{ *lease.Lease }

// Release is ReleaseAsync.
func (c asyncClaim) Release() error { return c.ReleaseAsync() }
