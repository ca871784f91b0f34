// Package lockdelay keeps a lock closed for a while when a lease on it has ended
// uncleanly: without a release, because the process was killed or cut off, or the lease
// was lost in another way. What the holder had sent to other systems by then has time
// to arrive, as with the lock-delay of Google's Chubby.
//
// The delay is stored in a node below the queue, path/lock-delay. A position that is
// admitted is recorded below that, under the name of its own node, in a transaction
// that checks that node; then the slot is granted. A release deletes the record, and
// then the node. So a record whose node is gone says that a holder has ended without a
// release.
//
// # What is promised
//
// Let H be a holder that has ended so, and N a contender whose slot conflicts with that
// of H. N is granted its slot when the delay has passed since N has first seen H's
// record without the node, by N's own clock. Why N sees the record: it was made before
// the grant of H, so before H's node was deleted, which N's session knows when N is
// admitted; so a listing that is sent after that shows the record. Whoever removes it
// has waited as long. That N does not wait for a holder that has released is no matter
// of safety: if it still sees the record, the event of its deletion ends the wait.
//
// Clocks of servers count in one case only, so that a lock does not stay closed for
// ever where nobody waits as long as the delay. Who first sees that H has ended marks
// the record. A node of a newcomer that was created twice the delay later than that, by
// the clocks of the servers, need not wait. They would have to be a whole delay apart
// for that to come too early.
//
// All contenders of a queue have the same delay. Those that have another, or none, are
// refused: the node with the delay is made before the first contender that has one
// joins the queue. A contender that joins later sees it in the listing behind its
// create; one that does not see it is ahead of all that have a delay. The node is a
// container, and servers remove it when there are no records. A position is recorded
// only if the node is older than its own; else it joins again.
package lockdelay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Store makes sure, for a contender that joins a queue next, that the queue stores its
// delay. It costs a read for the first one of a session.
func Store(ctx context.Context, c *framework.Client, q *queue.Queue) error {
	if q.LockDelay == 0 {
		return nil
	}
	dir := q.Node(znode.LockDelayDir)
	for mode, unknown := framework.Container, 0; ; {
		data, _, err := kit.Of(c).GetKnown(ctx, dir)
		if !errors.Is(err, framework.ErrNoNode) {
			return cmp.Or(err, compare(q, data))
		}
		err = kit.Of(c).WithParents(ctx, q.Path, func() error {
			_, err := c.Create(ctx, dir, znode.LockDelay(q.LockDelay), mode)
			return err
		})
		switch { // what is stored is read next
		case err == nil, errors.Is(err, framework.ErrNodeExists):
		case framework.OutcomeOf(err) == framework.Unknown && ctx.Err() == nil && unknown < maxUnknown:
			unknown++
		case mode == framework.Container && ctx.Err() == nil && (unknown == maxUnknown || errors.Is(err, framework.ErrUnsupported)):
			mode = framework.Persistent // an old server closes the connection, or refuses, if it knows no containers
		default:
			return err
		}
	}
}

// maxUnknown is after how many creates of a container that were not answered one does
// without.
const maxUnknown = 3

// compare returns an error unless data are the delay of the queue.
func compare(q *queue.Queue, data []byte) error {
	switch d, ok := znode.ParseLockDelay(data); {
	case !ok:
		return fmt.Errorf("%w: %s in %s", lease.ErrForeignData, quote.Excerpt(data), znode.LockDelayDir)
	case d != q.LockDelay:
		return fmt.Errorf("%w: %v given, %v stored", lease.ErrLockDelayMismatch, q.LockDelay, d)
	}
	return nil
}

// CheckNone returns an error if the children of a queue without a delay show one.
func CheckNone(ctx context.Context, c *framework.Client, q *queue.Queue, children []string) error {
	if q.LockDelay != 0 || !slices.Contains(children, znode.LockDelayDir) {
		return nil
	}
	data, _, err := c.Get(ctx, q.Node(znode.LockDelayDir))
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil
	case err != nil:
		return err
	}
	return compare(q, data)
}
