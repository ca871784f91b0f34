package queue

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Head returns the head of the queue, as seen by a server that has caught up with the
// leader. ok is false if the queue is empty.
func (q *Queue) Head(ctx context.Context) (head lease.Contender, ok bool, err error) {
	defer q.explain("head", &err)
	if err := q.CatchUp(ctx); err != nil {
		return lease.Contender{}, false, err
	}
	for {
		head, some, err := q.first(ctx, q.Client.Get)
		if err != nil || !some || head.Node != "" {
			return head, head.Node != "", err
		}
	}
}

// first reads the first node of a listing that still exists. It is the head: no node
// can be created ahead of it. Its Node is "" if none of them exists any more; some says
// whether there were some.
func (q *Queue) first(ctx context.Context, get func(ctx context.Context, path string) ([]byte, framework.Stat, error)) (head lease.Contender, some bool, err error) {
	names, err := q.Names(ctx, q.Client)
	for _, name := range names {
		switch data, stat, err := get(ctx, q.Node(name.Node)); {
		case err == nil:
			head = Describe(q.Node(name.Node), name, data, stat)
			head.Holding = true
			return head, true, nil
		case !errors.Is(err, framework.ErrNoNode):
			return lease.Contender{}, true, err
		}
	}
	return lease.Contender{}, len(names) > 0, err
}

// CatchUp waits until the server of the session has caught up with the leader.
func (q *Queue) CatchUp(ctx context.Context) error { return q.Client.Sync(ctx, q.Path) }

// WatchHead returns the head of the queue with a watch that fires when another node may
// be the head. If the queue is empty the head's Node is "", and the watch fires when a
// node may have been created.
//
// It watches one node, and the children only of an empty queue, so changes behind the
// head cost nothing. Watches do not accumulate: those on nodes end with the nodes, and
// there is at most one on the parent.
func (q *Queue) WatchHead(ctx context.Context) (head lease.Contender, w *framework.Watch, err error) {
	defer q.explain("watch the head", &err)
	get := func(ctx context.Context, path string) (data []byte, stat framework.Stat, err error) {
		data, stat, w, err = q.Client.GetWatch(ctx, path)
		return data, stat, err
	}
	for {
		if head, _, err = q.first(ctx, get); err != nil || head.Node != "" {
			return head, w, err
		}
		if some, w, err := q.watchForArrivals(ctx); err != nil || !some {
			return head, w, err
		}
	}
}

// watchForArrivals lists a second time, with a watch. some says that the queue is not
// empty.
func (q *Queue) watchForArrivals(ctx context.Context) (some bool, w *framework.Watch, err error) {
	children, _, w, err := q.Client.ChildrenWatch(ctx, q.Path)
	if !errors.Is(err, framework.ErrNoNode) {
		return len(q.Among(children)) > 0, w, err
	}
	// The first contender creates the path.
	exists, _, w, err := q.Client.ExistsWatch(ctx, q.Path)
	return exists, w, err
}
