package recipepath

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Recipes of different kinds do not count each other's nodes, so both would have the
// path at once. So whoever comes looks for nodes of other kinds, once, in the listing
// that it needs anyway, and does not stay if there are any. Mutex and read-write lock
// are one kind.
//
// Nodes count whose names a recipe has made from beginning to end. Whatever merely ends
// like one is a stranger's, as it always was.
//
// Two who come at the same time:
//
//   - Both have nodes under the path. These are numbered by the one counter of the
//     path, and each looks after its own creation, so the later one sees the earlier.
//     The earlier need not see the later, nor does it heed it: the newcomer goes.
//   - One is a semaphore's, with a node D in line at the door, below path/locks, and
//     the other has a node N under the path. If N is older, D's owner finds it: it asks
//     for the path's data after D was created, which it has to for the size, and that
//     tells how many children the path has: see package semaphore. If D is older, it is
//     there when the owner of N looks into path/locks, or has become permits, which are
//     there when that looks into path/leases, next.
//   - The owner of N looks into those two only if the path has a child called "leases".
//     If that is younger than N, whoever is first in line asks for the size again after
//     it was made, and finds N.
//
// So who waits or holds stays, whatever comes. The nodes of who has died count until
// its session ends, as everywhere. What Java's recipes do is not said here: they do not
// look.

// ErrOtherLayout means that a path is in use by a semaphore of the other layout.
var ErrOtherLayout = fmt.Errorf("%w, a semaphore of the other layout", lease.ErrOtherRecipe)

// recipes says whose the nodes of a kind are.
var recipes = map[string]string{
	znode.Mutex: "a mutex", znode.Reader: "a read-write lock", znode.Writer: "a read-write lock", znode.Latch: "an election",
	znode.Permit: "a semaphore", znode.Permits: "a semaphore with a single queue",
}

// errOther returns the error for a node of a kind at a path where the own kinds are
// others: an ErrOtherRecipe and, between semaphores, an ErrOtherLayout.
func errOther(in string, name znode.Name, own []string) error {
	semaphores := func(kind string) bool { return kind == znode.Permit || kind == znode.Permits }
	node, kind, why := name.Node, name.Kind, lease.ErrOtherRecipe
	if in != "" {
		node, kind = in+"/"+node, znode.Permit // at the door as well
	}
	if semaphores(kind) && semaphores(own[0]) {
		why = ErrOtherLayout
	}
	return fmt.Errorf("%w: node %s is that of %s: give each a path of its own", why, quote.Brief(node), recipes[kind])
}

// others returns the nodes of kinds other than the own ones.
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

// CheckOthers returns nil unless the path of a line is in use by another recipe, as a
// listing of it tells. self is a node in line, and it is asked with the first listing
// that shows it: whoever comes later sees that node. It is nil for who only thinks of
// coming.
func CheckOthers(ctx context.Context, c *framework.Client, line *queue.Queue, children []string, self *queue.Position) error {
	for _, name := range others(children, line.Kinds) {
		if self == nil || !name.Ordered() || name.Before(self.Name()) {
			return errOther("", name, line.Kinds)
		}
	}
	if !slices.Contains(children, znode.PermitsDir) {
		return nil
	}
	if err := checkAdmissionQueue(ctx, c, line, self); err != nil {
		return err
	}
	inside, err := list(ctx, c, line.Node(znode.PermitsDir), znode.Permit) // after the door
	if err == nil && len(inside) > 0 {
		err = errOther(znode.PermitsDir, inside[0], line.Kinds)
	}
	return err
}

// checkAdmissionQueue returns nil unless somebody older than self is in line there.
func checkAdmissionQueue(ctx context.Context, c *framework.Client, line *queue.Queue, self *queue.Position) error {
	door := line.Node(znode.QueueDir)
	waiting, err := list(ctx, c, door, znode.Mutex)
	if err != nil {
		return err
	}
	for _, name := range waiting {
		exists, stat, err := c.Exists(ctx, door+"/"+name.Node)
		switch {
		case err != nil:
			return err
		case !exists: // it gave up, or is inside
			continue
		case self != nil && stat.Czxid > self.Token():
			return nil // and so are all behind it
		}
		return errOther(znode.QueueDir, name, line.Kinds)
	}
	return nil
}

// list returns the nodes of a kind that recipes have made in a child of the path, in
// order.
func list(ctx context.Context, c *framework.Client, path, kind string) ([]znode.Name, error) {
	children, _, err := znode.Children(ctx, c, path)
	if errors.Is(err, framework.ErrNoAuth) {
		return nil, nil // a semaphore's are for all to see
	}
	found := whole(children, kind)
	slices.SortFunc(found, znode.Compare)
	return found, err
}

// CheckOthersAtSemaphore returns an error if somebody of another recipe, or of a
// semaphore with a single queue, is at the path of a semaphore and came before a node
// in line, or before the parent of the permits was made, whose czxid is given: nobody
// looked into that then.
func CheckOthersAtSemaphore(ctx context.Context, c *framework.Client, path, node string, leases int64) error {
	children, _, err := c.Children(ctx, path)
	if err != nil {
		return err
	}
	own := []string{znode.Permit}
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
		if exists && theirs.Czxid < max(mine.Czxid, leases) {
			return errOther("", name, own)
		}
	}
	return nil
}
