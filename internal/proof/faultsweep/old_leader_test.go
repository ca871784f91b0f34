package faultsweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
)

// TestHoldersWithAnOldLeader leaves one of two clients with a leader without a quorum,
// or moves it there. If that client holds the lease, the other is granted it when the
// majority expires the session.
func TestHoldersWithAnOldLeader(t *testing.T) {
	for _, kind := range []struct {
		recipe conformance.Recipe
		leads  bool
		nodes  []string // the kinds of nodes that must have been struck
	}{
		{aMutex, false, []string{"-lock-"}},
		{aReadWriteLock, false, []string{"__WRIT__", "__READ__"}},
		{aBinarySemaphore, false, []string{"/leases/"}},
		{aBinarySingle, false, []string{path}},
		{aLeader, false, []string{"-latch-"}},
		{aLeader, true, []string{"-latch-"}},
	} {
		t.Run(fmt.Sprint(kind.recipe.Name, kind.leads), func(t *testing.T) {
			failed, struck := 0, map[string]int{}
			for seed := range uint64(16) {
				for i := range 2 {
					for _, late := range []time.Duration{0, 517 * time.Millisecond} {
						p := Plan{
							Recipe: kind.recipe, Lead: kind.leads, Clients: 2, Rounds: 1, Seed: seed, Hold: 9013 * time.Millisecond,
							Splits: []Split{{
								Clients: []string{clientName(i)}, At: 1913 * time.Millisecond, Late: late, For: 2*conformance.SessionTimeout + 217*time.Millisecond,
							}},
						}
						report := p.Run(t)
						if failed < 3 && fail(t, p, report) {
							failed++
						}
						for _, node := range report.Struck {
							for _, sign := range kind.nodes {
								if strings.Contains(node, sign) {
									struck[sign]++
								}
							}
						}
					}
				}
			}
			t.Logf("struck: %v", struck)
			for _, sign := range kind.nodes {
				require.Positive(t, struck[sign], "no holder of %s was struck", sign)
			}
		})
	}
}
