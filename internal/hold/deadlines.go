package hold

import (
	"container/heap"
	"context"
	"iter"
	"time"
)

// A node is a znode of a hold in the table, whose mutex guards it. Each hold has nodes
// of its own: what was requested for one, and its events, never reach another of the
// same path.
type node struct {
	hold    *Hold
	path    string             // it does not change
	look    time.Duration      // when it is to be looked at; never until a look that was due is over
	cancel  context.CancelFunc // ends the look under way; nil without one
	stop    func()             // ends the newest watch; nil without one
	place   int32              // in the deadlines, from 1 on; 0 if it is not there
	watched bool               // the watch has not fired
	changed bool               // it has fired during the look
}

// in reports whether the hold is in the table.
func (n *node) in() bool { return n.place > 0 }

// next returns when something is due. If that changes while the node is in the table,
// moved has to follow.
func (n *node) next() time.Duration {
	if n == &n.hold.entry.own {
		return min(n.look, n.hold.entry.ends)
	}
	return n.look
}

// nodes returns all nodes of a hold, its own first.
func (e *entry) nodes() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for i := -1; i < len(e.also); i++ {
			n := &e.own
			if i >= 0 {
				n = &e.also[i]
			}
			if !yield(n) {
				return
			}
		}
	}
}

// deadlines are the nodes of all holds, a heap by the time when something is due.
type deadlines []*node

// Len, Less, Swap, Push and Pop are for container/heap.
func (d *deadlines) Len() int           { return len(*d) }
func (d *deadlines) Less(i, j int) bool { return (*d)[i].next() < (*d)[j].next() }

func (d *deadlines) Swap(i, j int) {
	all := *d
	all[i], all[j] = all[j], all[i]
	all[i].place, all[j].place = int32(i+1), int32(j+1) //nolint:gosec // fewer than 2^31
}

// Push adds a node at the end.
func (d *deadlines) Push(n any) {
	*d = append(*d, n.(*node))             //nolint:forcetypeassert // there are no others
	(*d)[len(*d)-1].place = int32(len(*d)) //nolint:gosec // fewer than 2^31
}

// Pop removes the last node.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	n := (*d)[last]
	(*d)[last], *d = nil, (*d)[:last]
	n.place = 0
	return n
}

// moved restores the order after a deadline of a node has changed.
func (d *deadlines) moved(n *node) { heap.Fix(d, int(n.place-1)) }
