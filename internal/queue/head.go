package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Head returns the first in line, as seen by a server that has caught up with the
// leader. ok is false if there is nobody.
func (q *Queue) Head(ctx context.Context) (head lease.Contender, ok bool, err error) {
	if err = q.CatchUp(ctx); err == nil {
		head, ok, err = q.head(ctx)
	}
	if err != nil {
		return lease.Contender{}, false, fmt.Errorf("first in line of %s: %w", q.title(), err)
	}
	return head, ok, nil
}

func (q *Queue) head(ctx context.Context) (head lease.Contender, ok bool, err error) {
	for {
		names, err := q.names(ctx)
		if err != nil || len(names) == 0 {
			return lease.Contender{}, false, err
		}
		// Whoever is left of a listing is the first in line: nobody gets in before.
		for _, name := range names {
			head, err := q.contender(ctx, name)
			if errors.Is(err, framework.ErrNoNode) {
				continue
			}
			head.Holding = true
			return head, err == nil, err
		}
	}
}

// CatchUp waits until the server that the session is attached to has caught up with
// the leader.
func (q *Queue) CatchUp(ctx context.Context) error { return q.cfg.Client.Sync(ctx, q.cfg.Path) }

// WatchHead returns the first in line with a watch that fires when it may no longer
// be that. If there is nobody its Node is "", and the watch fires when somebody may
// have come.
//
// It watches the one node, and the children only when there is nobody, so what goes
// on further back in the line costs nothing. No watch of it is left behind for each
// node that comes and goes: those on nodes go with them, and there is one on the
// parent, at most.
func (q *Queue) WatchHead(ctx context.Context) (head lease.Contender, w *framework.Watch, err error) {
	for {
		names, err := q.names(ctx)
		if err != nil {
			return lease.Contender{}, nil, q.watching(err)
		}
		for _, name := range names {
			head, w, err := q.watchContender(ctx, name)
			if errors.Is(err, framework.ErrNoNode) {
				continue
			}
			if err != nil {
				return lease.Contender{}, nil, q.watching(err)
			}
			return head, w, nil
		}
		somebody, w, err := q.watchForComers(ctx)
		if err != nil {
			return lease.Contender{}, nil, q.watching(err)
		}
		if !somebody {
			return lease.Contender{}, w, nil
		}
	}
}

func (q *Queue) watching(err error) error {
	return fmt.Errorf("watch the first in line of %s: %w", q.title(), err)
}

// names lists the contenders; a parent that does not exist has none.
func (q *Queue) names(ctx context.Context) ([]znode.Name, error) {
	children, _, err := q.cfg.Client.Children(ctx, q.cfg.Path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	return q.contenders(children), err
}

func (q *Queue) watchContender(ctx context.Context, name znode.Name) (lease.Contender, *framework.Watch, error) {
	data, stat, w, err := q.cfg.Client.GetWatch(ctx, q.node(name.Node))
	if err != nil {
		return lease.Contender{}, nil, err
	}
	c := q.describe(name, data, stat)
	c.Holding = true
	return c, w, nil
}

// watchForComers looks, a second time, whether there is somebody, and leaves a watch.
func (q *Queue) watchForComers(ctx context.Context) (somebody bool, w *framework.Watch, err error) {
	children, _, w, err := q.cfg.Client.ChildrenWatch(ctx, q.cfg.Path)
	if !errors.Is(err, framework.ErrNoNode) {
		return len(q.contenders(children)) > 0, w, err
	}
	// The path is made by the first who joins.
	exists, _, w, err := q.cfg.Client.ExistsWatch(ctx, q.cfg.Path)
	return exists, w, err
}
