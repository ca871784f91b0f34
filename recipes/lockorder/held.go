package lockorder

import (
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A record is that of a hold.
type record struct {
	framework.HoldInfo
	client    uint64
	goroutine uint64
	by        stack
	tentative *hold.Tentative
	hold      *hold.Hold // nil until it has started
}

// edges returns those of an Acquire that may wait, without the stacks of that.
func (c *Checker) edges(ctx context.Context, client uint64, a framework.AcquireInfo) (edges []*edge) {
	owned := c.owned(ctx)
	if slices.ContainsFunc(owned, func(r *record) bool { return r.client == client && r.isEnteredBy(a) }) {
		return nil
	}
	add := func(r *record, byGoroutine bool) {
		e := edge{held: r.Lock, heldRecipe: r.Recipe, heldBy: r.by, wanted: a.Lock, wantedRecipe: a.Recipe, byGoroutine: byGoroutine}
		edges = append(edges, &e)
		if all := e; r.Path != r.Lock { // any of the stripes may be wanted elsewhere
			all.held = r.Path
			edges = append(edges, &all)
		}
	}
	for _, r := range owned {
		add(r, false)
	}
	trying := hold.TentativeOf(ctx)
	for _, r := range c.acquiredHere() {
		givenUp := trying.IsWithin(r.tentative)
		if !givenUp && !slices.Contains(owned, r) && (r.hold == nil || r.hold.IsGrantHeld()) {
			add(r, true)
		}
	}
	return edges
}

// isEnteredBy reports whether an Acquire by the same client, with a context that owns
// the hold, enters that or fails at once. It may wait for other forks; they all belong
// to one owner.
func (r *record) isEnteredBy(a framework.AcquireInfo) bool {
	sides := []string{lease.KindReader, lease.KindWriter}
	same := r.Recipe == a.Recipe && r.Recipe != lease.KindSemaphore || slices.Contains(sides, r.Recipe) && slices.Contains(sides, a.Recipe)
	return same && (a.Lock == r.Lock || a.Lock == r.Path)
}

// owned returns the records of what a context owns, the innermost first.
func (c *Checker) owned(ctx context.Context) (records []*record) {
	var nodes []string
	for h := range hold.Owned(ctx) { // without the lock: it may end a hold that is lost
		nodes = append(nodes, h.FullPath())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, node := range nodes {
		if r := c.held[node]; r != nil {
			records = append(records, r)
		}
	}
	return records
}

// acquiredHere returns what was acquired on this goroutine and has not ended.
func (c *Checker) acquiredHere() []*record {
	if !c.goroutines {
		return nil
	}
	here := goroutine()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.on[here])
}
