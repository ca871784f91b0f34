// Package lockdelay keeps a lock closed for a while when a lease on it has ended
// uncleanly: it was lost, because the process was killed or cut off, or in another way.
// What the holder had sent to other systems by then has time to arrive, as with the
// lock-delay of Google's Chubby.
//
// The delay is stored in a node below the queue, path/lock-delay. A position that is
// admitted is recorded below that, under the name of its own node, in a transaction
// that checks that node; then the slot is granted. A release deletes both nodes in one
// transaction. So a record whose node is gone says that a holder has ended uncleanly,
// or, for a moment, that an acquire which was given up has been recorded before.
//
// # What is promised
//
// Let H be a holder that has ended so, and N a contender whose slot conflicts with that
// of H. N is granted its slot when the delay has passed since N has first seen H's
// record without the node, by N's own clock. Why N sees the record: it was made before
// the grant of H, so before H's node was deleted, which N's session knows when N is
// admitted; so a listing that is sent after that shows the record. Who removes it has
// waited as long. N looks for the node of each record that is not ahead of it: a holder
// may live there that N does not know, a writer that has become a reader.
//
// Clocks of servers count in one case only, so that a lock does not stay closed for
// ever where nobody waits as long as the delay. Who first sees that H has ended marks
// the record. A node of a newcomer that was created twice the delay later than that, by
// the clocks of the servers, need not wait. They would have to be a whole delay apart
// for that to come too early.
//
// # Who obeys
//
// All contenders behind one that has a delay obey it. The node that stores it is made
// before the first of these joins the queue. Who joins later sees it in the listing
// behind its create, and is recorded, and waits, whether it has been given a delay or
// not; one that has been given another is refused. The node is a container, and servers
// remove it when there are no records. Whoever has been given a delay is recorded only
// if the container is older than its own node, also when that was carried out; else it
// joins again, behind those that came when there was none.
package lockdelay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
			if err == nil {
				_, err = compare(q, data)
			}
			return err
		}
		err = kit.Of(c).WithParents(ctx, q.Path, func() error {
			_, err := c.Create(ctx, dir, znode.LockDelay(q.LockDelay), mode)
			return err
		})
		switch { // what is stored is read next
		case err == nil, errors.Is(err, framework.ErrNodeExists):
		case framework.OutcomeOf(err) == framework.Unknown && ctx.Err() == nil:
			if unknown++; unknown > maxUnknown {
				mode = framework.Persistent // an old server closes the connection if it knows no containers
			}
		case mode == framework.Container && errors.Is(err, framework.ErrUnsupported):
			mode = framework.Persistent
		default:
			return err
		}
	}
}

// maxUnknown is after how many creates of a container that were not answered one does
// without.
const maxUnknown = 3

// Applies reports whether a position has to be recorded: its queue has a delay, or
// stores one, as a listing of it shows.
func Applies(p *queue.Position, children []string) bool {
	return p.Queue().LockDelay > 0 || slices.Contains(children, znode.LockDelayDir)
}

// compare returns what data say about the delay, or an error if the queue has another.
// For a queue without a delay, data of another kind are none.
func compare(q *queue.Queue, data []byte) (time.Duration, error) {
	switch d, ok := znode.ParseLockDelay(data); {
	case !ok && q.LockDelay == 0:
		return 0, nil
	case !ok:
		return 0, fmt.Errorf("%w: %s in %s", lease.ErrForeignData, quote.Excerpt(data), znode.LockDelayDir)
	case q.LockDelay != 0 && d != q.LockDelay:
		return 0, fmt.Errorf("%w: %v given, %v stored", lease.ErrLockDelayMismatch, q.LockDelay, d)
	default:
		return d, nil
	}
}
