package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Contender is one node in the queue.
type Contender struct {
	znode.Name
	// Path is its path.
	Path string
	// Holding tells whether it has been admitted.
	Holding bool
	// Token is the node's czxid, Session the id of its owner.
	Token, Session int64
	// Holder is what it says about itself.
	Holder Holder
	// Enqueued is the server's time of its creation.
	Enqueued time.Time
}

// Contenders lists the queue, first in line first, as seen by a server that has
// caught up with the leader. Nodes that go while it reads are left out.
func (q *Queue) Contenders(ctx context.Context) ([]Contender, error) {
	found, err := q.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list contenders of %s: %w", q.title(), err)
	}
	return found, nil
}

func (q *Queue) list(ctx context.Context) ([]Contender, error) {
	c := q.cfg.Client
	if err := c.Sync(ctx, q.cfg.Path); err != nil {
		return nil, err
	}
	children, _, err := c.Children(ctx, q.cfg.Path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	size := 0
	if q.cfg.Size != nil {
		if size, _, err = q.cfg.Size(ctx, c, Peek); err != nil {
			return nil, err
		}
	}
	names := q.contenders(children)
	all, err := q.readAll(ctx, names)
	if err != nil {
		return nil, err
	}
	var found []Contender
	for i, name := range names {
		if all[i] == nil {
			continue
		}
		ahead := names[:i]
		if i > 0 && names[i-1].Sequence == name.Sequence {
			ahead = slices.DeleteFunc(slices.Clone(ahead), name.Beside)
		}
		all[i].Holding = len(q.cfg.Policy(name, ahead, size)) == 0
		found = append(found, *all[i])
	}
	return found, nil
}

// sideBySide is how many nodes are asked for at once. A server answers the requests of
// a session one after the other, so that whoever else uses the session, and its own
// round trips, wait for no more than that many answers. Fewer would not do for a long
// line and a server far away: 1,000 nodes at 20 ms take 1.3 s so.
const sideBySide = 16

// readAll reads nodes; nil is in place of those that have gone. If one cannot be read
// that is the error, and no further one is asked for.
func (q *Queue) readAll(ctx context.Context, names []znode.Name) ([]*Contender, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make([]*Contender, len(names))
	failed := make(chan error, sideBySide)
	var next atomic.Int64
	read := func() {
		for i := next.Add(1) - 1; i < int64(len(names)); i = next.Add(1) - 1 {
			switch contender, err := q.contender(ctx, names[i]); {
			case err == nil:
				all[i] = &contender
			case !errors.Is(err, framework.ErrNoNode):
				failed <- err
				cancel()
				return
			}
		}
	}
	var readers sync.WaitGroup
	for range min(sideBySide, len(names)) {
		readers.Go(read)
	}
	readers.Wait()
	select {
	case err := <-failed: // the first; the others were called off for it
		return nil, err
	default:
		return all, nil
	}
}

// contender reads one node.
func (q *Queue) contender(ctx context.Context, name znode.Name) (Contender, error) {
	data, stat, err := q.cfg.Client.Get(ctx, q.node(name.Node))
	if err != nil {
		return Contender{}, err
	}
	return q.describe(name, data, stat), nil
}

func (q *Queue) describe(name znode.Name, data []byte, stat framework.Stat) Contender {
	return Contender{
		Name: name, Path: q.node(name.Node), Token: stat.Czxid, Session: stat.EphemeralOwner,
		Holder: holderOf(name.Kind, data), Enqueued: stat.Ctime,
	}
}
