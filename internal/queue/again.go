package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// othersPerLook is at how many of the nodes waited for one look looks; those of whom
// many are waited for have their turns.
const othersPerLook = 2

// lookAgain looks slowly, until stop is called, for what no event tells of what a place
// in line waits for: see hold.LookAgain. found is closed when the line has to be looked
// at. Each look costs two answers without data, where more than one node is waited for
// three, and what Dependency.Changed costs.
func (p *Position) lookAgain(ctx context.Context, others []znode.Name, also *Dependency) (found <-chan struct{}, stop func()) {
	next := 0
	return hold.LookAgain(ctx, p.session, p.path, func(ctx context.Context) (goOn bool) {
		ahead := batch(others, next)
		next += othersPerLook
		gone := func(other znode.Name) bool { return hold.Gone(ctx, p.client, p.queue.Node(other.Node)) }
		return !hold.Gone(ctx, p.client, p.path) && !slices.ContainsFunc(ahead, gone) && (also.Changed == nil || !also.Changed(ctx))
	})
}

// batch returns as many of the names as have a batch, those from a place on, and round
// again.
func batch(names []znode.Name, from int) []znode.Name {
	var some []znode.Name
	for i := range min(othersPerLook, len(names)) {
		some = append(some, names[(from+i)%len(names)])
	}
	return some
}

// LookAgain looks slowly, until stop is called, for what no event tells of the head
// that WatchHead returned, by its path, or of there being nobody. found is closed when
// WatchHead should be called again.
func (q *Queue) LookAgain(ctx context.Context, head string, somebody bool) (found <-chan struct{}, stop func()) {
	s := q.Client.Session()
	return hold.LookAgain(ctx, s, fmt.Sprint(head, s.ID()), func(ctx context.Context) (goOn bool) {
		return somebody && !hold.Gone(ctx, q.Client, head)
	})
}
