package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/retry"
)

// watched is the result of a read that left a watch, or of one that left none.
type watched[T any] struct {
	value T
	stat  *zk.Stat
	own   *waiter
}

// watched reads together with a watch.
func (r *reading[T]) watched(ctx context.Context, c *Client, path string) (value T, stat Stat, w *Watch, err error) {
	v, err := r.watchFor(ctx, c, path, newWatch)
	if err != nil {
		return value, stat, nil, err
	}
	w = v.own.to.(*Watch) //nolint:forcetypeassert // of newWatch
	w.bind(ctx, v.own)
	return v.value, toStat(v.stat), w, nil
}

// watchFor reads together with a watch for the recipient that to returns for each
// attempt.
func (r *reading[T]) watchFor(ctx context.Context, c *Client, path string, to func() recipient) (watched[T], error) {
	return do(ctx, c, request[watched[T]]{
		op: r.op, path: path, idempotent: true, reads: true,
		send: func(s *Session, path string) (watched[T], error) { return r.watchIn(s, path, to()) },
		late: func(v watched[T], err error) {
			if err == nil {
				v.own.drop()
			}
		},
	})
}

// watchIn makes the library's call in a session, without a watch if the server has it
// already.
func (r *reading[T]) watchIn(s *Session, path string, to recipient) (v watched[T], err error) {
	if retry.Sleep(s.ctx, s.gate.expectWatches()) != nil {
		return v, zk.ErrConnectionClosed // over before anything was sent
	}
	var armed bool
	v.own, armed = s.watch.join(watchKey{r.kind, path}, to)
	if armed {
		v.value, v.stat, err = r.read(s.conn, path)
	} else if v.value, v.stat, _, err = r.set(s.conn, path); err == nil {
		v.own.entry.arm()
	}
	if err == nil && context.Cause(s.ctx) != nil { // all waiters may have got its end before we joined
		err = zk.ErrConnectionClosed
	}
	if err != nil {
		v.own.drop()
	}
	return v, err
}

// GetWatch is Get with a watch for a change of the data or the deletion of the node.
// There is no watch if it fails.
func (c *Client) GetWatch(ctx context.Context, path string) ([]byte, Stat, *Watch, error) {
	return dataReading.watched(ctx, c, path)
}

// ExistsWatch is Exists with a watch for the creation of the node, or for a change of
// its data or its deletion if it exists. A watch on a node that is never created stays
// for the life of the session: use GetWatch where the node should exist.
func (c *Client) ExistsWatch(ctx context.Context, path string) (bool, Stat, *Watch, error) {
	exists, stat, w, err := existenceReading.watched(ctx, c, path)
	if !exists {
		stat = Stat{}
	}
	return exists, stat, w, err
}

// ChildrenWatch is Children with a watch for the creation or deletion of a child and
// the deletion of the node. There is no watch if it fails.
func (c *Client) ChildrenWatch(ctx context.Context, path string) ([]string, Stat, *Watch, error) {
	return childrenReading.watched(ctx, c, path)
}
