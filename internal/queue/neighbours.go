package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Recipes of different kinds do not count each other's nodes, so both would have the
// path at once. So whoever comes looks for nodes of other kinds, once, in the listing
// that it needs anyway, and does not stay if there are any. Mutex and read-write lock
// are one kind.
//
// Nodes count whose names a recipe has made from beginning to end. Whatever merely
// ends like one is a stranger's, as it always was.
//
// Two who come at the same time:
//
//   - Both have nodes under the path. These are numbered by the one counter of the
//     path, and each looks after its own creation, so the later one sees the earlier.
//     The earlier need not see the later, nor does it heed it: the newcomer goes.
//   - One is a semaphore's, with a node D in line at the door, below path/locks, and the
//     other has a node N under the path. If N is older, D's owner finds it: it asks for
//     the path's data after D was created, which it has to for the size, and that tells
//     how many children the path has: see package semaphore. If D is older, it is there
//     when the owner of N looks into path/locks, or has become permits, which are there
//     when that looks into path/leases, next.
//   - The owner of N looks into those two only if the path has a child called "leases".
//     If that is younger than N, whoever is first in line asks for the size again after
//     it was made, and finds N.
//
// So who waits or holds stays, whatever comes. The nodes of who has died count until its
// session ends, as everywhere. What Java's recipes do is not said here: they do not look.

// ErrOtherLayout means that a path is in use by a semaphore of the other layout.
var ErrOtherLayout = fmt.Errorf("%w, a semaphore of the other layout", lease.ErrOtherRecipe)

// A StrangerError says that a path is in use by another recipe. It is a
// lease.ErrOtherRecipe, and, between semaphores, an ErrOtherLayout.
type StrangerError struct {
	// Node is the name of a node found, below In if that is not "".
	In, Node string
	// Recipe is whose it is, as in "an election".
	Recipe string
	layout bool
}

// Error names the node.
func (e *StrangerError) Error() string {
	node := e.Node
	if e.In != "" {
		node = e.In + "/" + e.Node
	}
	return fmt.Sprintf("%v: node %s is that of %s: give each a path of its own", e.sentinel(), quote.Brief(node), e.Recipe)
}

func (e *StrangerError) sentinel() error {
	if e.layout {
		return ErrOtherLayout
	}
	return lease.ErrOtherRecipe
}

// Unwrap returns what the error is.
func (e *StrangerError) Unwrap() error { return e.sentinel() }

// recipes says whose the nodes of a kind are.
var recipes = map[string]string{
	znode.Mutex: "a mutex", znode.Reader: "a read-write lock", znode.Writer: "a read-write lock", znode.Latch: "an election",
	znode.Permit: "a semaphore", znode.Permits: "a semaphore with a single queue",
}

// stranger returns the error for a node of a kind at a path where the own kinds are
// others.
func stranger(in string, name znode.Name, own []string) error {
	semaphores := func(kind string) bool { return kind == znode.Permit || kind == znode.Permits }
	kind := name.Kind
	if in != "" {
		kind = znode.Permit // at the door as well
	}
	return &StrangerError{In: in, Node: name.Node, Recipe: recipes[kind], layout: semaphores(kind) && semaphores(own[0])}
}

// others returns the nodes of kinds other than the own ones.
func others(children, own []string) (found []znode.Name) {
	kinds := slices.DeleteFunc(slices.Clone(znode.All), func(kind string) bool { return slices.Contains(own, kind) })
	for _, child := range children {
		if name, ok := znode.ParseWhole(child, kinds...); ok {
			found = append(found, name)
		}
	}
	return found
}

// settleIn makes certain, with the first listing that shows the own node, that no
// other recipe has the path. Whoever comes later sees this node.
func (p *place) settleIn(ctx context.Context, children []string) error {
	if p.settled {
		return nil
	}
	err := p.queue.alone(ctx, p.client, children, &comer{p.self, p.token})
	p.settled = err == nil
	return err
}

// A comer is who looks for others: its node's name, and its czxid.
type comer struct {
	name  znode.Name
	czxid int64
}

// alone returns nil unless the path is in use by another recipe, as a listing of it
// tells. self is nil for who only thinks of coming.
func (q *Queue) alone(ctx context.Context, c *framework.Client, children []string, self *comer) error {
	for _, name := range others(children, q.cfg.Kinds) {
		if self == nil || !name.Ordered() || name.Before(self.name) {
			return stranger("", name, q.cfg.Kinds)
		}
	}
	if !slices.Contains(children, znode.PermitsDir) {
		return nil
	}
	if err := q.nobodyAtTheDoor(ctx, c, self); err != nil {
		return err
	}
	inside, err := q.wholeNames(ctx, c, znode.PermitsDir, znode.Permit) // after the door
	if err == nil && len(inside) > 0 {
		err = stranger(znode.PermitsDir, inside[0], q.cfg.Kinds)
	}
	return err
}

// nobodyAtTheDoor returns nil unless somebody older than self is in line there.
func (q *Queue) nobodyAtTheDoor(ctx context.Context, c *framework.Client, self *comer) error {
	line, err := q.wholeNames(ctx, c, znode.LineDir, znode.Mutex)
	if err != nil {
		return err
	}
	for _, name := range line {
		exists, stat, err := c.Exists(ctx, q.node(znode.LineDir)+"/"+name.Node)
		switch {
		case err != nil:
			return err
		case !exists: // it gave up, or is inside
			continue
		case self != nil && stat.Czxid > self.czxid:
			return nil // and so are all behind it
		}
		return stranger(znode.LineDir, name, q.cfg.Kinds)
	}
	return nil
}

// wholeNames lists the nodes of a kind in a child of the path, in order.
func (q *Queue) wholeNames(ctx context.Context, c *framework.Client, in, kind string) ([]znode.Name, error) {
	children, _, err := c.Children(ctx, q.node(in))
	if errors.Is(err, framework.ErrNoNode) || errors.Is(err, framework.ErrNoAuth) {
		return nil, nil // a semaphore's are for all to see
	}
	var found []znode.Name
	for _, child := range children {
		if name, ok := znode.ParseWhole(child, kind); ok {
			found = append(found, name)
		}
	}
	slices.SortFunc(found, znode.Compare)
	return found, err
}

// RefuseStrangers returns an error if somebody of another recipe, or of a semaphore with
// a single queue, is at the path of a semaphore and came before a node in line, or before
// the parent of the permits was made, whose czxid is given: nobody looked into that then.
func RefuseStrangers(ctx context.Context, c *framework.Client, path, node string, leases int64) error {
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
		err = ErrEvicted
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
			return stranger("", name, own)
		}
	}
	return nil
}
