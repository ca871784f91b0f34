package queue

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errBusy means that too many creates of a queue are under way.
var errBusy = errors.New("too many creates are under way")

// JoinTogether has positions in different queues join these in one transaction. They
// are of one session, and of clients that name nodes alike. The parents have to exist.
// It makes one attempt, and none if others of the client wait in one of the queues. On
// failure no node remains, or it is being deleted.
func JoinTogether(ctx context.Context, all []*Position) error {
	for _, p := range all {
		p.begin()
	}
	err := createTogether(ctx, all)
	if err != nil {
		for _, p := range all {
			p.End()
		}
		return err
	}
	for _, p := range all {
		if !p.self.Ordered() {
			LeaveTogether(ctx, all)
			return lease.ErrSequenceExhausted
		}
	}
	return nil
}

// createTogether creates the nodes. A listing of each queue follows over the same
// connection.
func createTogether(ctx context.Context, all []*Position) error {
	var parents []string
	for _, p := range all {
		if p.view.crowd.waits() {
			return ErrNotFree // and thousands that wait need not list for that
		}
		parents = append(parents, p.queue.Path)
	}
	if !kit.Of(all[0].queue.Client).HasRoom(all[0].session, parents...) {
		return framework.ErrTooManyEphemerals
	}
	paths, data, views := make([]string, len(all)), make([][]byte, len(all)), make([]*view, len(all))
	for i, p := range all {
		v := p.view
		select {
		case v.joins <- struct{}{}:
			defer func() { <-v.joins }() //nolint:gocritic // all are held until they have joined
		default:
			return errBusy
		}
		if err := p.mayBeListed(); err != nil {
			return err
		}
		paths[i], data[i], views[i] = p.queue.Node(p.queue.Kind), p.queue.Data(ctx), v
	}
	made, err := kit.Of(all[0].client).CreateEach(ctx, paths, data, func() {
		for i, p := range all {
			p.onSent(views[i])
			views[i].flush()
		}
	})
	if err != nil {
		return err
	}
	for i, p := range all {
		p.onMade(made[i])
		p.announce(ctx)
	}
	return nil
}

// LeaveTogether deletes the nodes of such positions in one transaction. It does not end
// with ctx, which is that of the wait.
func LeaveTogether(ctx context.Context, all []*Position) {
	client := all[0].client
	if client.Session().Err() == nil {
		ctx, cancel := hold.RemovalContext(ctx, client.Session(), leaveLimit)
		defer cancel()
		ops := make([]framework.Op, len(all))
		for i, p := range all {
			p.recordMissing()
			ops[i] = framework.DeleteOp(p.path, framework.AnyVersion)
		}
		if _, err := client.Multi(ctx, ops...); err != nil {
			for _, p := range all {
				kit.Of(client).DeleteInBackground(p.path)
			}
		}
	}
	for _, p := range all {
		p.End()
	}
}
