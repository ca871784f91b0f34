package lockorder

import (
	"cmp"
	"fmt"
	"runtime"
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
	// HeldBy is the call stack with which it was acquired, the innermost call first. It
	// begins where the program has called the library.
	HeldBy []runtime.Frame
	// Wanted is the full path of the lock that was wanted.
	Wanted string
	// WantedRecipe is what was wanted.
	WantedRecipe string
	// WantedBy is the call stack of the Acquire.
	WantedBy []runtime.Frame
	// ByGoroutine is set if the context of the Acquire did not own what was held: it
	// was acquired on the same goroutine. See WithContextsOnly.
	ByGoroutine bool
}

// String says in several lines which lock was held while which was wanted, and where
// both were acquired.
func (c Cycle) String() string {
	var b strings.Builder
	b.WriteString("lock order: ")
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "%s, then ", quote.Path(s.Held))
	}
	fmt.Fprintf(&b, "%s again", quote.Path(c.Steps[0].Held))
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "\n  wanted: %s %s", s.WantedRecipe, quote.Path(s.Wanted))
		write(&b, s.WantedBy)
		fmt.Fprintf(&b, "\n  while held: %s %s", s.HeldRecipe, quote.Path(s.Held))
		if s.ByGoroutine {
			b.WriteString(", by the same goroutine and not by the context")
		}
		write(&b, s.HeldBy)
	}
	return b.String()
}

// write writes the first calls of a stack.
func write(b *strings.Builder, frames []runtime.Frame) {
	const most = 8
	for _, f := range frames[:min(len(frames), most)] {
		fmt.Fprintf(b, "\n    %s (%s:%d)", f.Function, f.File, f.Line)
	}
	if n := len(frames) - most; n > 0 {
		fmt.Fprintf(b, "\n    and %d more", n)
	}
}

// newCycle returns the cycle of these edges.
func newCycle(edges []*edge) (c Cycle) {
	i := slices.Index(edges, slices.MinFunc(edges, func(a, b *edge) int { return cmp.Compare(a.held, b.held) }))
	for _, e := range slices.Concat(edges[i:], edges[:i]) {
		c.Steps = append(c.Steps, Step{
			Held: e.held, HeldRecipe: e.heldRecipe, HeldBy: e.heldBy.frames(),
			Wanted: e.wanted, WantedRecipe: e.wantedRecipe, WantedBy: e.wantedBy.frames(), ByGoroutine: e.byGoroutine,
		})
	}
	return c
}
