package queue

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Ahead are the contenders before another.
type Ahead struct {
	names []znode.Name          // in order
	gone  map[string]znode.Name // of those, the ones that do not count
	over  map[string]slotOver   // nor do those whose deletes were sent
	on    <-chan struct{}       // over this connection
}

// counts reports whether one of them does.
func (a Ahead) counts(name znode.Name) bool {
	_, gone := a.gone[name.Node]
	slot, over := a.over[name.Node]
	return !gone && (!over || slot.on != a.on)
}

// All yields them, the nearest first.
func (a Ahead) All(yield func(znode.Name) bool) {
	for i := len(a.names) - 1; i >= 0; i-- {
		if a.counts(a.names[i]) && !yield(a.names[i]) {
			return
		}
	}
}

// A Policy decides whether a contender is admitted. It returns none if self is
// admitted, and otherwise some of those ahead, at least one of which must leave before
// self can be admitted.
//
// It must be a pure function, and more contenders ahead must not make it admit earlier.
// Then no contender waits for ever: those it names are ahead, so there are no cycles,
// and one of them leaves before self is admitted, so no wake-up is missed.
type Policy func(self znode.Name, ahead Ahead) (wait []znode.Name)

// A Rule returns the policy for a decision. It is called before each, so that what the
// policy depends on, such as a stored size, is not older than the listing.
type Rule func(ctx context.Context, c *framework.Client) (Policy, error)

// nearest returns the nearest of them, if there is one.
func (a Ahead) nearest() (name znode.Name, some bool) {
	for nearest := range a.All {
		return nearest, true
	}
	return name, false
}

// Always is the rule with one policy.
func Always(p Policy) Rule {
	return func(context.Context, *framework.Client) (Policy, error) { return p, nil }
}

// Exclusive is the policy that admits one contender at a time: each waits for the
// nearest ahead. So a release wakes one waiter.
func Exclusive(_ znode.Name, ahead Ahead) (wait []znode.Name) {
	if nearest, some := ahead.nearest(); some {
		return []znode.Name{nearest}
	}
	return nil
}

// Before returns the contenders in a part of a queue.
func Before(names []znode.Name) Ahead { return Ahead{names: names} }
