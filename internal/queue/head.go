package queue

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Head returns the first in line, as seen by a server that has caught up with the
// leader. ok is false if there is nobody.
func (q *Queue) Head(ctx context.Context) (head lease.Contender, ok bool, err error) {
	defer q.explain("first in line", &err)
	if err := q.CatchUp(ctx); err != nil {
		return lease.Contender{}, false, err
	}
	for {
		head, anybody, err := q.first(ctx, q.Client.Get)
		if err != nil || !anybody || head.Node != "" {
			return head, head.Node != "", err
		}
	}
}

// first reads the first of those who are left of a listing, which is the first in line:
// nobody gets in before. Its Node is "" if none of them are left; anybody tells whether
// there were any.
func (q *Queue) first(ctx context.Context, get func(ctx context.Context, path string) ([]byte, framework.Stat, error)) (head lease.Contender, anybody bool, err error) {
	names, err := q.Names(ctx, q.Client)
	for _, name := range names {
		switch data, stat, err := get(ctx, q.Node(name.Node)); {
		case err == nil:
			head = q.describe(name, data, stat)
			head.Holding = true
			return head, true, nil
		case !errors.Is(err, framework.ErrNoNode):
			return lease.Contender{}, true, err
		}
	}
	return lease.Contender{}, len(names) > 0, err
}

// CatchUp waits until the server that the session is attached to has caught up with the
// leader.
func (q *Queue) CatchUp(ctx context.Context) error { return q.Client.Sync(ctx, q.Path) }

// WatchHead returns the first in line with a watch that fires when it may no longer be
// that. If there is nobody its Node is "", and the watch fires when somebody may have
// come.
//
// It watches the one node, and the children only when there is nobody, so what goes on
// further back in the line costs nothing. No watch of it is left behind for each node
// that comes and goes: those on nodes go with them, and there is one on the parent, at
// most.
func (q *Queue) WatchHead(ctx context.Context) (head lease.Contender, w *framework.Watch, err error) {
	defer q.explain("watch the first in line", &err)
	get := func(ctx context.Context, path string) (data []byte, stat framework.Stat, err error) {
		data, stat, w, err = q.Client.GetWatch(ctx, path)
		return data, stat, err
	}
	for {
		if head, _, err = q.first(ctx, get); err != nil || head.Node != "" {
			return head, w, err
		}
		if somebody, w, err := q.watchForArrivals(ctx); err != nil || !somebody {
			return head, w, err
		}
	}
}

// watchForArrivals looks, a second time, whether there is somebody, and leaves a watch.
func (q *Queue) watchForArrivals(ctx context.Context) (somebody bool, w *framework.Watch, err error) {
	children, _, w, err := q.Client.ChildrenWatch(ctx, q.Path)
	if !errors.Is(err, framework.ErrNoNode) {
		return len(q.Among(children)) > 0, w, err
	}
	// The path is made by the first who joins.
	exists, _, w, err := q.Client.ExistsWatch(ctx, q.Path)
	return exists, w, err
}
