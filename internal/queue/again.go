package queue

import (
	"context"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// othersPerLook is at how many of the nodes waited for one look looks; those of whom many
// are waited for have their turns.
const othersPerLook = 2

// lookAgain looks slowly, until stop is called, for what no event tells of what a place in
// line waits for: see hold.LookAgain. found is closed when the line has to be looked at.
// Each look costs two answers without data, where more than one node is waited for
// three, and one more where there is a size.
func (p *place) lookAgain(ctx context.Context, others []znode.Name, size int) (found <-chan struct{}, stop func()) {
	news, next := make(chan struct{}), 0
	return news, hold.LookAgain(ctx, p.session, p.path, func(ctx context.Context) (goOn bool) {
		ahead := turn(others, next)
		if !hold.Gone(ctx, p.client, p.path) && p.othersStand(ctx, ahead) && p.sizeIsStill(ctx, size) {
			next += othersPerLook
			return true
		}
		close(news)
		return false
	})
}

// turn returns as many of the names as have a turn, those from a place on, and round again.
func turn(names []znode.Name, from int) []znode.Name {
	var some []znode.Name
	for i := range min(othersPerLook, len(names)) {
		some = append(some, names[(from+i)%len(names)])
	}
	return some
}

func (p *place) othersStand(ctx context.Context, others []znode.Name) bool {
	for _, other := range others {
		if hold.Gone(ctx, p.client, p.queue.node(other.Node)) {
			return false
		}
	}
	return true
}

// sizeIsStill leaves the size at a door to the first in line.
func (p *place) sizeIsStill(ctx context.Context, size int) bool {
	if p.queue.cfg.Size == nil || p.wait.door != nil {
		return true
	}
	now, _, err := p.queue.cfg.Size(ctx, p.client.Once(), Peek)
	return err == nil && now == size || framework.OutcomeOf(err) == framework.Unknown
}

// LookAgain looks slowly, until stop is called, for what no event tells of the head that
// WatchHead returned, by its path, or of there being nobody. found is closed when WatchHead
// should be called again.
func (q *Queue) LookAgain(ctx context.Context, head string, somebody bool) (found <-chan struct{}, stop func()) {
	c, news := q.cfg.Client, make(chan struct{})
	s := c.Session()
	stop = hold.LookAgain(ctx, s, fmt.Sprint(head, s.ID()), func(ctx context.Context) bool {
		if somebody && !hold.Gone(ctx, c, head) {
			return true
		}
		close(news)
		return false
	})
	return news, stop
}
