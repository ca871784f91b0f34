package faultsweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// complaints prints the first few runs that broke an invariant and counts them all.
type complaints struct{ runs, struck, failed int }

func (c *complaints) note(t *testing.T, p Plan, r Report) {
	t.Helper()
	c.runs++
	if len(r.Struck) > 0 {
		c.struck++
	}
	if len(r.Broken) == 0 {
		return
	}
	if c.failed++; c.failed <= 2 {
		fail(t, p, r)
	} else {
		t.Fail()
	}
}

func (c *complaints) String() string {
	return fmt.Sprintf("%d plans with a parting, %d of which struck a holder; %d broke an invariant", c.runs, c.struck, c.failed)
}

// TestHoldersWithAnOldLeader leaves one of two clients with a leader that has lost its
// quorum, or takes it there. If it is the one that holds, the other is granted the place
// when the session ends with the others.
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
			var all complaints
			struck := map[string]int{}
			for seed := range uint64(16) {
				for i := range 2 {
					for _, late := range []time.Duration{0, 517 * time.Millisecond} {
						p := Plan{
							Recipe: kind.recipe, Lead: kind.leads, Clients: 2, Rounds: 1, Seed: seed, Hold: 9013 * time.Millisecond,
							Partings: []Parting{{
								Clients: []string{clientName(i)}, At: 1913 * time.Millisecond, Late: late, For: 2*conformance.SessionTimeout + 217*time.Millisecond,
							}},
						}
						report := p.Run(t)
						all.note(t, p, report)
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
			t.Logf("%v; %v", &all, struck)
			for _, sign := range kind.nodes {
				require.Positive(t, struck[sign], "no holder of %s was struck", sign)
			}
		})
	}
}

// TestPartingsStrikeHolders runs those random plans that have a parting, and counts: the
// fault must not become one that strikes nobody.
func TestPartingsStrikeHolders(t *testing.T) {
	seeds := 400 // also in the short form: few of them have a parting
	if raceDetector {
		seeds /= slowdown
	}
	for name, random := range map[string]func(conformance.Recipe, uint64) Plan{"rich": Random, "lean": RandomLean} {
		for _, r := range []conformance.Recipe{aMutex, aReadWriteLock, aMixedSemaphore, aMixedSingleQueue, aLeader} {
			t.Run(name+" "+r.Name, func(t *testing.T) {
				var all complaints
				late := 0
				for seed := range uint64(amount(t, "ZKRECIPES_PARTINGS", seeds)) {
					p := random(r, seed)
					p.Lead = r.Name == aLeader.Name && seed%4 != 0
					if len(p.Partings) == 0 {
						continue
					}
					report := p.Run(t)
					all.note(t, p, report)
					if len(report.Struck) > 0 && p.Partings[0].Late > 0 {
						late++
					}
				}
				t.Logf("%v; %d strikes on who came late", &all, late)
				require.GreaterOrEqual(t, all.struck, all.runs/4)
				require.True(t, late > 0 || all.runs < 20)
			})
		}
	}
}

// TestFewPlansHaveAParting makes sure that partings leave the other random plans what
// they are without them.
func TestFewPlansHaveAParting(t *testing.T) {
	const plans = 1000
	with := 0
	for seed := range uint64(plans) {
		p, _ := random(aMutex, seed, callsPerLeanRun)
		lean := RandomLean(aMutex, seed)
		if len(lean.Partings) > 0 {
			with++
			require.Contains(t, lean.String(), ", Partings: []Parting{{Clients: []string{\"c")
			continue
		}
		require.Equal(t, p.Hold, lean.Hold)
		require.Equal(t, p.Faults, lean.Faults)
		require.Equal(t, p.Outages, lean.Outages)
	}
	require.InDelta(t, plans/partingsOneIn, with, plans/50)
}

func TestPlansPrintTheirPartings(t *testing.T) {
	p := Plan{
		Recipe: aMutex, Clients: 2, Faults: zktest.Schedule{{N: 3, Action: zktest.CutConnection}},
		Partings: []Parting{{Clients: []string{"c0", "c2"}, At: 5, For: 7}, {Clients: []string{"c1"}, Late: 6}},
	}
	require.Contains(t, p.String(),
		`Partings: []Parting{{Clients: []string{"c0", "c2"}, At: 5, Late: 0, For: 7}, {Clients: []string{"c1"}, At: 0, Late: 6, For: 0}, }`)
}
