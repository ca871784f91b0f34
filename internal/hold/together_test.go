package hold_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Claims that are released at the same time are each released once.
func TestClaimsAreReleasedTogether(t *testing.T) {
	granting(t, func(t *testing.T, p world) {
		for range 200 {
			first := p.grant(t, t.Context())
			all := []*lease.Lease{first}
			for range 20 {
				h, _, err := hold.Enter(first.Context(), p.key())
				require.NoError(t, err)
				all = append(all, h)
			}
			results := make([]error, len(all))
			var released sync.WaitGroup
			for i, h := range all {
				released.Go(func() { results[i] = h.Release() })
			}
			released.Wait()
			for _, err := range results {
				require.NoError(t, err)
			}
		}
	})
}
