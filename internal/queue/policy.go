package queue

import (
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Policy decides whether a contender is admitted. ahead are the contenders before
// self, the nearest last. It returns none if self is admitted, and otherwise some of
// those ahead, at least one of which must leave before self can be admitted.
//
// It must be a pure function, and more contenders ahead must not make it admit earlier.
// Then no contender waits for ever: those it names are ahead, so there are no cycles,
// and one of them leaves before self is admitted, so no wake-up is missed.
type Policy func(self znode.Name, ahead []znode.Name) (wait []znode.Name)

// A Rule returns the policy for one listing of a queue. It is called after each, so
// that what the policy depends on, such as a stored size, is not older than the
// listing.
type Rule func(ctx context.Context, c *framework.Client) (Policy, error)

// Always is the rule with one policy.
func Always(p Policy) Rule {
	return func(context.Context, *framework.Client) (Policy, error) { return p, nil }
}

// Exclusive is the policy that admits one contender at a time: each waits for the
// nearest ahead. So a release wakes one waiter.
func Exclusive(_ znode.Name, ahead []znode.Name) (wait []znode.Name) {
	return ahead[max(len(ahead)-1, 0):]
}

// admitsWithout reports whether the deletion of one contender ahead admits self without
// another listing: no node can be created ahead of one that exists, unless Recheck says
// so.
func (q *Queue) admitsWithout(gone, self znode.Name, ahead []znode.Name, policy Policy) bool {
	if q.Recheck != nil && q.Recheck(self, gone) {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(ahead), func(name znode.Name) bool { return name.Node == gone.Node })
	return len(policy(self, rest)) == 0
}
