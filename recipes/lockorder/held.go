package lockorder

import (
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A claim is one that the context of an Acquire has on a hold.
type claim struct {
	hold.Claim
	*record // nil if its client is not observed, or it has ended
}

// edges returns those of an Acquire that may wait, without the stacks of that.
func (c *Checker) edges(ctx context.Context, client uint64, a framework.AcquireInfo) (edges []*edge) {
	claims, here := c.claims(ctx), c.acquiredHere()
	wanted, waits := target(claims, client, a)
	if !waits {
		return nil
	}
	from := func(r *record, path string, forks int, byGoroutine bool) {
		edges = append(edges, &edge{
			held: place{path, forks}, heldRecipe: r.Recipe, heldBy: r.by, wanted: wanted, wantedRecipe: a.Recipe, byGoroutine: byGoroutine,
		})
	}
	fromLock := func(r *record, byGoroutine bool) {
		from(r, r.Lock, 0, byGoroutine)
		if r.Path != r.Lock {
			from(r, r.Path, 0, byGoroutine)
		}
	}
	for _, own := range claims {
		switch {
		case own.record == nil, !own.Held, own.Tentative, own.Above && wanted.forks > 0: // of all these forks
		case own.Forks > 0:
			from(own.record, own.Lock, own.Forks, false)
		default:
			fromLock(own.record, false)
		}
	}
	trying := hold.TentativeOf(ctx)
	for _, r := range here {
		owned := slices.ContainsFunc(claims, func(own claim) bool { return own.record == r })
		tentative := trying != nil && r.tentative == trying
		if !owned && !tentative && (r.hold == nil || r.hold.IsGrantHeld()) {
			fromLock(r, true)
		}
	}
	return edges
}

// claims returns those of a context, the innermost first.
func (c *Checker) claims(ctx context.Context) (all []claim) {
	for own := range hold.Claims(ctx) { // without the lock: it may end a hold that is lost
		all = append(all, claim{Claim: own})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, own := range all {
		all[i].record = c.held[own.Hold.FullPath()]
	}
	return all
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

// target returns where an Acquire waits that has these claims. It does not wait if it
// re-enters a hold, or fails because it cannot. A fork waits for other forks, unless
// they share the hold.
func target(claims []claim, client uint64, a framework.AcquireInfo) (at place, waits bool) {
	shared := false
	for _, own := range claims {
		switch {
		case !own.isEnteredBy(client, a):
		case own.Lost, !own.Above:
			return place{}, false
		case own.kind() == lease.KindReader:
			shared = true // if there is a writer's further out, that decides
		default:
			return place{own.Lock, own.Forks + 1}, true
		}
	}
	return place{a.Lock, 0}, !shared
}

func (own claim) kind() string {
	_, kind := own.Hold.Lock()
	return kind
}

// isEnteredBy reports whether an Acquire finds this claim to be one on what it wants.
func (own claim) isEnteredBy(client uint64, a framework.AcquireInfo) bool {
	lock, kind := own.Hold.Lock()
	if r := own.record; r != nil {
		if r.client != client || a.Lock != r.Lock && a.Lock != r.Path {
			return false
		}
	} else if !own.Lost || lock != a.Lock {
		return false
	}
	sides := []string{lease.KindReader, lease.KindWriter}
	return kind == a.Recipe && kind != lease.KindSemaphore || slices.Contains(sides, kind) && slices.Contains(sides, a.Recipe)
}
