package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// othersPerLook is how many of the nodes waited for one look reads. If there are more,
// the looks take them in turn.
const othersPerLook = 2

// lookAgain looks slowly, until stop is called, for changes without an event of what a
// position waits for: see hold.LookAgain. found is closed when the queue has to be
// listed again. Each look costs two answers without data, three if more than one node
// is waited for, and what Dependency.Changed costs.
func (p *Position) lookAgain(ctx context.Context, others []znode.Name, also *Dependency) (found <-chan struct{}, stop func()) {
	next := 0
	return hold.LookAgain(ctx, p.session, p.path, func(ctx context.Context) (goOn bool) {
		ahead := batch(others, next)
		next += othersPerLook
		gone := func(other znode.Name) bool { return hold.Gone(ctx, p.client, p.queue.Node(other.Node)) }
		return !hold.Gone(ctx, p.client, p.path) && !slices.ContainsFunc(ahead, gone) && (also.Changed == nil || !also.Changed(ctx))
	})
}

// batch returns the names for one look, from an index on, and from the beginning again.
func batch(names []znode.Name, from int) []znode.Name {
	var some []znode.Name
	for i := range min(othersPerLook, len(names)) {
		some = append(some, names[(from+i)%len(names)])
	}
	return some
}

// LookAgain looks slowly, until stop is called, for a change without an event of the
// head that WatchHead returned: exists says whether there was one. found is closed when
// WatchHead should be called again.
func (q *Queue) LookAgain(ctx context.Context, head string, exists bool) (found <-chan struct{}, stop func()) {
	s := q.Client.Session()
	return hold.LookAgain(ctx, s, fmt.Sprint(head, s.ID()), func(ctx context.Context) (goOn bool) {
		return exists && !hold.Gone(ctx, q.Client, head)
	})
}
