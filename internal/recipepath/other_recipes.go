package recipepath

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Recipes of different kinds do not count each other's nodes, so both would grant at
// once. So each newcomer looks once for nodes of other kinds, in the listing that it
// needs anyway, and leaves if there are any. Mutex and read-write lock are one kind.
//
// Only nodes whose whole name a recipe has made count. Others are ignored here.
//
// Two newcomers at the same time:
//
//   - Both have nodes under the path. One counter numbers these, and each newcomer
//     looks after its own create, so the later one sees the earlier. The earlier need
//     not see the later, and ignores it: the later one leaves.
//   - One is a semaphore's, with a node D in its queue, below path/locks, and the other
//     has a node N under the path. If N is older, D's owner finds it: it reads the
//     path's data after the create of D, for the size, and the stat says how many
//     children the path has: see package semaphore. If D is older, it exists when the
//     owner of N lists path/locks, or has become permits, which exist when that lists
//     path/leases, next.
//   - The owner of N lists those two only if the path has a child called "leases". If
//     that is younger than N, the head of the queue reads the size again after it was
//     made, and finds N.
//   - Stripes have nodes below path/stripe-0000 and so on. The owner of N looks for
//     older ones there, and whether their number is stored. The owner of a stripe's
//     node D lists the path after its create, for an older N, before it stores that:
//     see package striped. It does so once for each value; from then on the number is
//     there.
//
// So a contender that waits or holds is not affected by a newcomer. The nodes of a dead
// process count until its session ends, as everywhere. Java's recipes do not look.

// ErrOtherLayout means that a path is in use by a semaphore of the other layout.
var ErrOtherLayout = fmt.Errorf("%w, a semaphore of the other layout", lease.ErrOtherRecipe)

// recipes names the recipe of each kind of node.
var recipes = map[string]string{
	znode.Mutex: "a mutex", znode.Reader: "a read-write lock", znode.Writer: "a read-write lock", znode.Latch: "an election",
	znode.Permit: "a semaphore", znode.Permits: "a semaphore with a single queue", znode.Stripe: "a striped lock",
}

// errOther returns the error for a node of another recipe: an ErrOtherRecipe and,
// between semaphores, an ErrOtherLayout.
func errOther(in string, name znode.Name, own []string) error {
	semaphores := func(kind string) bool { return kind == znode.Permit || kind == znode.Permits }
	node, kind, why := name.Node, name.Kind, lease.ErrOtherRecipe
	switch {
	case strings.HasPrefix(in, znode.Stripe):
		node, kind = in+"/"+node, znode.Stripe
	case in != "":
		node, kind = in+"/"+node, znode.Permit // also in the queue
	}
	if semaphores(kind) && semaphores(own[0]) {
		why = ErrOtherLayout
	}
	return fmt.Errorf("%w: node %s is that of %s: give each a path of its own", why, quote.Brief(node), recipes[kind])
}

// others returns the nodes of other kinds than the own ones.
func others(children, own []string) []znode.Name {
	return whole(children, slices.DeleteFunc(slices.Clone(znode.All), func(kind string) bool { return slices.Contains(own, kind) })...)
}

// whole returns the nodes of some kinds that recipes have made.
func whole(children []string, kinds ...string) (found []znode.Name) {
	for _, child := range children {
		if name, ok := znode.ParseWhole(child, kinds...); ok {
			found = append(found, name)
		}
	}
	return found
}

// CheckOthers returns nil unless another recipe uses the path of a queue, by a listing
// of it. It is called with the first listing that shows the own node, self: a later
// newcomer sees that. self is nil for a client that has no node yet.
func CheckOthers(ctx context.Context, c *framework.Client, q *queue.Queue, children []string, self *queue.Position) error {
	for _, name := range others(children, q.Kinds) {
		if self == nil || !name.Ordered() || name.Before(self.Name()) {
			return errOther("", name, q.Kinds)
		}
	}
	if err := checkStripes(ctx, c, q, children, self); err != nil {
		return err
	}
	if !slices.Contains(children, znode.PermitsDir) {
		return nil
	}
	if err := checkQueueBelow(ctx, c, q, znode.QueueDir, self, znode.Mutex); err != nil {
		return err
	}
	return checkPermits(ctx, c, q.Path, q.Kinds) // after the queue
}

// checkStripes returns nil unless there are stripes below the path, whose number it
// stores, or one of which has a node older than self.
func checkStripes(ctx context.Context, c *framework.Client, q *queue.Queue, children []string, self *queue.Position) error {
	stripes := slices.DeleteFunc(slices.Clone(children), func(child string) bool {
		_, ok := znode.ParseStripeDir(child)
		return !ok
	})
	if len(stripes) == 0 {
		return nil
	}
	data, _, err := c.Get(ctx, q.Path)
	if err != nil {
		return err
	}
	if n, ok := znode.ParseStripes(data); ok {
		return fmt.Errorf("%w: it has %d stripes: give each a path of its own", lease.ErrOtherRecipe, n)
	}
	for _, stripe := range stripes {
		if err := checkQueueBelow(ctx, c, q, stripe, self, znode.Locks...); err != nil {
			return err
		}
	}
	return nil
}

// checkQueueBelow returns nil unless a queue below the path, of a semaphore or of a
// stripe, has a node older than self.
func checkQueueBelow(ctx context.Context, c *framework.Client, q *queue.Queue, dir string, self *queue.Position, kinds ...string) error {
	path := q.Node(dir)
	waiting, err := list(ctx, c, path, kinds...)
	if err != nil {
		return err
	}
	for _, name := range waiting {
		exists, stat, err := c.Exists(ctx, path+"/"+name.Node)
		switch {
		case err != nil:
			return err
		case !exists: // it gave up, or holds permits
			continue
		case self != nil && stat.Czxid > self.Created():
			return nil // as are all behind it
		}
		return errOther(dir, name, q.Kinds)
	}
	return nil
}

// checkPermits returns nil unless there are permits of a semaphore. Its size need not
// be stored: Java's is not.
func checkPermits(ctx context.Context, c *framework.Client, path string, own []string) error {
	held, err := list(ctx, c, path+"/"+znode.PermitsDir, znode.Permit)
	if err == nil && len(held) > 0 {
		err = errOther(znode.PermitsDir, held[0], own)
	}
	return err
}

// list returns the nodes of some kinds that recipes have made below a child of the
// path, in order.
func list(ctx context.Context, c *framework.Client, path string, kinds ...string) ([]znode.Name, error) {
	children, _, err := znode.Children(ctx, c, path)
	if errors.Is(err, framework.ErrNoAuth) {
		return nil, nil // all clients may read those of a semaphore
	}
	found := whole(children, kinds...)
	slices.SortFunc(found, znode.Compare)
	return found, err
}

// CheckOthersAbove returns an error if the path of a recipe, which has its queues below
// that, has a node of a kind other than its own that is older than the given node of a
// queue, or than a moment: the czxid of the parent of a semaphore's permits, into which
// no other recipe could look before.
func CheckOthersAbove(ctx context.Context, c *framework.Client, path, node string, moment int64, own ...string) error {
	children, _, err := c.Children(ctx, path)
	if err != nil {
		return err
	}
	if !slices.Contains(own, znode.Permit) && slices.Contains(children, znode.PermitsDir) {
		if err := checkPermits(ctx, c, path, own); err != nil {
			return err
		}
	}
	if slices.Contains(children, znode.LockDelayDir) { // holders that live have nodes as well
		recorded, err := list(ctx, c, path+"/"+znode.LockDelayDir, znode.All...)
		if err == nil && len(recorded) > 0 {
			err = errOther("", recorded[0], own)
		}
		if err != nil {
			return err
		}
	}
	found := others(children, own)
	if len(found) == 0 {
		return nil
	}
	exists, mine, err := c.Exists(ctx, node)
	if err == nil && !exists {
		err = queue.ErrEvicted
	}
	if err != nil {
		return err
	}
	for _, name := range found {
		exists, theirs, err := c.Exists(ctx, path+"/"+name.Node)
		if err != nil {
			return err
		}
		if exists && theirs.Czxid < max(mine.Czxid, moment) {
			return errOther("", name, own)
		}
	}
	return nil
}
