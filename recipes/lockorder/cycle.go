package lockorder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A Cycle is a number of locks that were acquired in inconsistent order.
type Cycle struct {
	// Steps are the acquires that make it up: each wants what the next one holds, and
	// the last one what the first one holds. The first one is that of which the path
	// held is the smallest. If there is only one, a lock was wanted by its own owner.
	Steps []Step
}

// A Step is an Acquire that may have to wait while its owner holds another lock: the
// first one of these two locks in this order.
type Step struct {
	// Held is the full path of the lock that was held: of all stripes, if any of them
	// is wanted elsewhere.
	Held string
	// HeldRecipe is what was held: "mutex" and so on, as in framework.HoldInfo.
	HeldRecipe string
	// HeldForks is 0, or tells that what was held is not the lock but the claim of a
	// fork on it, and how many forks above each other that was.
	HeldForks int
	// HeldBy is where it was acquired; for a claim of a fork, where its lock was.
	HeldBy Stack
	// Wanted is the full path of the lock that was wanted.
	Wanted string
	// WantedRecipe is what was wanted.
	WantedRecipe string
	// WantedForks is to Wanted what HeldForks is to Held.
	WantedForks int
	// WantedBy is where it was wanted.
	WantedBy Stack
	// ByGoroutine is set if the context of the Acquire did not own what was held: it
	// was acquired on the same goroutine. See WithContextsOnly.
	ByGoroutine bool
}

// String says in several lines which lock was held while which was wanted, and where
// both were acquired.
func (c Cycle) String() string {
	var b strings.Builder
	if len(c.Steps) == 1 {
		fmt.Fprintf(&b, "lock order: %s is wanted by its own holder", quote.Path(c.Steps[0].Held))
	} else {
		b.WriteString("lock order: ")
		for _, s := range c.Steps {
			fmt.Fprintf(&b, "%s, then ", quote.Path(s.Held))
		}
		fmt.Fprintf(&b, "%s again", quote.Path(c.Steps[0].Held))
	}
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "\n  wanted: %s", lockText(s.WantedRecipe, s.Wanted, s.WantedForks))
		s.WantedBy.write(&b)
		fmt.Fprintf(&b, "\n  while held: %s", lockText(s.HeldRecipe, s.Held, s.HeldForks))
		if s.ByGoroutine {
			b.WriteString(", by the same goroutine and not by the context")
		}
		s.HeldBy.write(&b)
	}
	return b.String()
}

func lockText(recipe, path string, forks int) string {
	text := fmt.Sprintf("%s %s", recipe, quote.Path(path))
	if forks > 0 {
		text += ", among the forks of its holder"
	}
	return text
}

// newCycle returns the cycle of these edges.
func newCycle(edges []*edge) Cycle {
	first := slices.MinFunc(edges, func(a, b *edge) int {
		return cmp.Or(cmp.Compare(a.held.path, b.held.path), cmp.Compare(a.held.forks, b.held.forks))
	})
	i := slices.Index(edges, first)
	var c Cycle
	for _, e := range slices.Concat(edges[i:], edges[:i]) {
		c.Steps = append(c.Steps, Step{
			Held: e.held.path, HeldRecipe: e.heldRecipe, HeldForks: e.held.forks, HeldBy: e.heldBy,
			Wanted: e.wanted.path, WantedRecipe: e.wantedRecipe, WantedForks: e.wanted.forks, WantedBy: e.wantedBy,
			ByGoroutine: e.byGoroutine,
		})
	}
	return c
}

// key is equal for equal cycles.
func (c Cycle) key() string {
	var b strings.Builder
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "%q %d ", s.Held, s.HeldForks)
	}
	return b.String()
}
