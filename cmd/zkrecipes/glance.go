package main

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A glance is what the waiting job sees of the queues: who is ahead, and who is the
// first of them. It lists names, and reads one node of each queue, however long that
// is. It asks no server to catch up: what the session sees is as new as its own node.
type glance struct {
	*job
	listed int // how many names, of all queues

	mu  sync.Mutex
	own map[string]string // the name of the job's newest node in each folder
}

// joined records a node of the job: what is listed behind it is not ahead.
func (g *glance) joined(node string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.own == nil {
		g.own = map[string]string{}
	}
	g.own[path.Dir(node)] = path.Base(node)
}

// isOwn reports whether it is the job's node.
func (g *glance) isOwn(c lease.Contender) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.own[path.Dir(c.Path)] == path.Base(c.Path)
}

// A folder is where nodes of a queue are.
type folder struct {
	path  string
	kinds []string
}

// foldersOf returns those of a recipe's queue, that of the holders first.
func (j *job) foldersOf(c recipe) (all []folder) {
	switch {
	case c.isAnyStripe():
		for i := range c.stripes {
			all = append(all, folder{c.path + "/" + znode.StripeDir(i), znode.Locks})
		}
		return all
	case c.kind == lease.KindSemaphore && j.lockDelay.value == 0:
		return []folder{{c.path + "/" + znode.PermitsDir, []string{znode.Permit}}, {c.path + "/" + znode.QueueDir, znode.Locks}}
	case c.kind == lease.KindSemaphore:
		return []folder{{c.path, []string{znode.Permits}}}
	case c.kind == lease.KindLeader:
		return []folder{{c.path, []string{znode.Latch}}}
	}
	return []folder{{c.queuePath(), znode.Locks}}
}

// ahead lists who is ahead of the job, the head first. Only the head has more than a
// name.
func (g *glance) ahead(ctx context.Context, c recipe) (all []lease.Contender, err error) {
	folders := g.foldersOf(c)
	listed := make([][]lease.Contender, len(folders))
	if err := inParallel(len(folders), func(i int) (err error) {
		listed[i], err = g.list(ctx, folders[i])
		return err
	}); err != nil {
		return nil, err
	}
	var behind []lease.Contender
	for _, names := range listed {
		g.listed += len(names)
		if own := slices.IndexFunc(names, g.isOwn); own >= 0 {
			names = names[:own]
		}
		if c.isAnyStripe() && len(names) > 1 {
			names, behind = names[:1], append(behind, names[1:]...)
		}
		all = append(all, names...)
	}
	all, err = g.readHead(ctx, append(all, behind...))
	if len(all) > 0 && all[0].Session == g.client.Session().ID() {
		return nil, err // the job's own: that it has joined is known here a moment later
	}
	return all, err
}

// list lists the contenders in a folder, in order.
func (g *glance) list(ctx context.Context, f folder) (all []lease.Contender, err error) {
	children, _, err := znode.Children(ctx, g.client, f.path)
	for _, name := range znode.Contenders(children, f.kinds...) {
		all = append(all, lease.Contender{Kind: queue.KindOf(name), Node: name.Node, Path: f.path + "/" + name.Node})
	}
	return all, err
}

// readHead reads the head. Contenders before it that are deleted meanwhile are left
// out; a node that may not be read stays without a holder.
func (g *glance) readHead(ctx context.Context, all []lease.Contender) ([]lease.Contender, error) {
	for len(all) > 0 {
		head := &all[0]
		data, stat, err := g.client.Get(ctx, head.Path)
		switch {
		case err == nil:
			head.Session, head.Holder = stat.EphemeralOwner, queue.HolderOf(head.Node, data)
			return all, nil
		case errors.Is(err, framework.ErrNoAuth):
			return all, nil
		case !errors.Is(err, framework.ErrNoNode):
			return nil, err
		}
		all = all[1:]
	}
	return all, nil
}
