package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Contender is one node in the queue.
type Contender struct {
	Name
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
	var found []Contender
	for i, name := range names {
		contender, err := q.contender(ctx, name)
		if errors.Is(err, framework.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ahead := slices.DeleteFunc(slices.Clone(names[:i]), name.beside)
		contender.Holding = len(q.cfg.Policy(name, ahead, size)) == 0
		found = append(found, contender)
	}
	return found, nil
}

// contender reads one node.
func (q *Queue) contender(ctx context.Context, name Name) (Contender, error) {
	data, stat, err := q.cfg.Client.Get(ctx, q.node(name.Node))
	if err != nil {
		return Contender{}, err
	}
	return q.describe(name, data, stat), nil
}

func (q *Queue) describe(name Name, data []byte, stat framework.Stat) Contender {
	return Contender{
		Name: name, Path: q.node(name.Node), Token: stat.Czxid, Session: stat.EphemeralOwner,
		Holder: holderOf(name.Kind, data), Enqueued: stat.Ctime,
	}
}
