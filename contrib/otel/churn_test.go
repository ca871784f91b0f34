package zkotel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/churn"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// Whatever happens, what has started has ended, and each end counts once.
func TestTotalsAfterAChurn(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
				w.Churn(seed, churn.AnyRecipe, func(cfg *framework.Config) {
					cfg.MaxEphemeralBytes = 2000
					cfg.Observers = append(cfg.Observers, b.Observer())
				})
				n := churn.Count(w.Observed.Events())
				require.Greater(t, n.Acquires, n.Holds)
				require.Positive(t, n.Holds)
				require.InDelta(t, n.Acquires, b.count(t, "acquire.wait"), 0)
				require.InDelta(t, n.Holds, b.count(t, "hold.duration"), 0)
				require.InDelta(t, n.Holds, float64(n.Released)+b.count(t, "losses")+b.count(t, "release.failures"), 0)
				require.Len(t, b.spans.Ended(), n.Acquires+n.Holds)
			})
		})
	}
}

// count returns how often something was recorded, or the sum of a counter, over all
// attributes.
func (b *backend) count(t *testing.T, name string) (n float64) {
	t.Helper()
	for _, m := range b.collect(t) {
		if m.Name != "zkrecipes."+name {
			continue
		}
		for _, p := range points(t, m) {
			if n += float64(p.count); p.count == 0 {
				n += p.value
			}
		}
	}
	return n
}
