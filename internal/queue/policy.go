package queue

import (
	"context"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Policy decides on a contender. ahead are those before self, nearest last. It
// returns nothing if self is admitted, and otherwise some of those ahead, of which at
// least one must go before self can be.
//
// It must be a pure function, and must not admit earlier for more contenders ahead.
// Then nobody waits for ever: those it names are ahead, so waiting relations have no
// cycles, and one of them goes before self is admitted, so no wake-up is missed.
type Policy func(self znode.Name, ahead []znode.Name) (wait []znode.Name)

// A Rule returns the policy for one look at a line. It is asked for behind each, so
// that what it goes by, such as a size that is stored somewhere, is not older than the
// line.
type Rule func(ctx context.Context, c *framework.Client) (Policy, error)

// Always is the rule that goes by one policy.
func Always(p Policy) Rule {
	return func(context.Context, *framework.Client) (Policy, error) { return p, nil }
}

// Exclusive is the policy by which one is admitted at a time: everybody waits for the
// nearest ahead. So a release wakes one waiter.
func Exclusive(_ znode.Name, ahead []znode.Name) (wait []znode.Name) {
	return ahead[max(len(ahead)-1, 0):]
}

// admitsWithout reports whether self is admitted now that one of those ahead has gone,
// without another look: nothing can get in line before a node that exists, unless
// Recheck says so.
func (q *Queue) admitsWithout(gone, self znode.Name, ahead []znode.Name, policy Policy) bool {
	if q.Recheck != nil && q.Recheck(self, gone) {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(ahead), func(name znode.Name) bool { return name.Node == gone.Node })
	return len(policy(self, rest)) == 0
}
