package semaphore

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
)

// A path that is used with both layouts at once would have its permits granted
// twice. Whoever takes some first leaves a node, then looks for those of the other
// layout; so of two who do, one sees the other.

// refuseDoor is for users of a single queue, who see the children of the path
// anyway.
func refuseDoor(children []string) error {
	if slices.Contains(children, queue.DoorNode) || slices.Contains(children, queue.LeasesNode) {
		return fmt.Errorf("%w: it has the nodes %q or %q of one without a single queue; they go when it is idle", ErrLayout, queue.DoorNode, queue.LeasesNode)
	}
	return nil
}

// refuseSingle is for all others. They look only if the path has more children than
// the two of their own layout.
func (s *Semaphore) refuseSingle(ctx context.Context, c *framework.Client, children int32) error {
	if children <= 2 {
		return nil
	}
	names, _, err := c.Children(ctx, s.path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := queue.Parse(name, queue.PermitsName); ok {
			return fmt.Errorf("%w: node %q is one of a single queue", ErrLayout, name)
		}
	}
	return nil
}
