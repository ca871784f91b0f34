package zkprom_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/churn"
)

// Whatever happens, what has started has ended, and each end counts once.
func TestTotalsAfterAChurn(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.Churn(seed, churn.AnyRecipe, w.observed, func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 2000 })
				n := churn.Count(w.Observed.Events())
				require.Greater(t, n.Acquires, n.Holds)
				require.Positive(t, n.Holds)
				for _, gauge := range []string{"acquires_waiting", "holds", "cleanups_pending", "clients"} {
					assert.Empty(t, w.values(gauge).nonZero(), gauge)
				}
				assert.Empty(t, w.values("trust_left_seconds"))
				assert.InDelta(t, n.Acquires, w.values("acquire_wait_seconds_count").sum(), 0)
				assert.InDelta(t, n.Holds, w.values("hold_seconds_count").sum(), 0)
				assert.InDelta(t, n.Holds, w.values("losses_total").sum()+w.values("release_failures_total").sum()+float64(n.Released), 0)
			})
		})
	}
}

func (s series) sum() (sum float64) {
	for _, value := range s {
		sum += value
	}
	return sum
}
