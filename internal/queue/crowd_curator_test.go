package queue_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// curator is the client that takes the mutex of a crowd as Curator does: it knows
// nothing of what other sessions have released, only of what is deleted. It keeps its
// connection.
const curator = "curator"

// contendLikeCurator takes the mutex again and again while there are faults.
func (c *crowd) contendLikeCurator(ctx context.Context, client *framework.Client) {
	for c.now() < faultsEnd {
		began := c.now()
		made, err := client.CreateProtected(ctx, path+"/lock-", nil, framework.EphemeralSequential)
		if errors.Is(err, framework.ErrNoNode) {
			_ = client.CreateParents(ctx, path+"/lock-")
			continue
		}
		if err == nil {
			err = c.awaitLikeCurator(ctx, client, made.Path)
		}
		if err != nil {
			c.t.Errorf("seed %d: %s: %v", c.seed, curator, err)
			return
		}
		from := c.now()
		pass(c.upTo(20 * time.Millisecond))
		c.mu.Lock()
		c.holds = append(c.holds, held{who: curator, weight: 1, from: from, to: c.now(), waited: from - began, node: made.Path})
		c.mu.Unlock()
		if err := client.Delete(ctx, made.Path, framework.AnyVersion); err != nil {
			c.t.Errorf("seed %d: %s: %v", c.seed, curator, err)
		}
		pass(c.upTo(200 * time.Millisecond))
	}
}

// awaitLikeCurator waits until a node is the first of its queue: it lists the children,
// and reads the one before with a watch.
func (c *crowd) awaitLikeCurator(ctx context.Context, client *framework.Client, own string) error {
	for {
		nodes, _, err := client.Children(ctx, path)
		if err != nil {
			return err
		}
		slices.SortFunc(nodes, byNumber)
		at := slices.Index(nodes, own[len(path)+1:])
		if at < 0 {
			return errors.New("the own node is gone")
		}
		if at == 0 {
			return nil
		}
		_, _, w, err := client.GetWatch(ctx, path+"/"+nodes[at-1])
		if errors.Is(err, framework.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		select {
		case <-w.Events():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
