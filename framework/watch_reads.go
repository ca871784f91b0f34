package framework

import (
	"cmp"
	"context"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// watched reads together with a watch.
func (r *reading[T]) watched(ctx context.Context, c *Client, path string) (value T, stat Stat, w *Watch, err error) {
	f, err := r.watchFor(ctx, c, path, newWatch)
	if err != nil {
		return value, stat, nil, err
	}
	w = f.own.to.(*Watch) //nolint:forcetypeassert // of newWatch
	w.bind(ctx, f.own)
	return f.value, f.stat, w, nil
}

// watchFor reads together with a watch for the recipient that to returns for each
// attempt.
func (r *reading[T]) watchFor(ctx context.Context, c *Client, path string, to func() recipient) (found[T], error) {
	return do(ctx, c, request[found[T]]{
		op: r.op, path: path, idempotent: true, reads: true,
		start: func(s *Session, path string) (attempt[found[T]], error) { return r.startWatch(s, path, to()), nil },
		late: func(f found[T], outcome Outcome) {
			if outcome == Done {
				f.own.drop()
			}
		},
	})
}

// startWatch is an attempt with a watch, which the server sets unless it has it
// already.
func (r *reading[T]) startWatch(s *Session, path string, to recipient) attempt[found[T]] {
	own, armed := s.watch.join(watchKey{r.kind, path}, to)
	return attempt[found[T]]{code: r.code, record: r.record(path, !armed), finish: func(a guard.Answer, err error) (found[T], error) {
		f, err := r.find(a, err)
		// All waiters may have got the end of the session before we joined.
		if err != nil || context.Cause(s.ctx) != nil || !own.arm(a.Code == 0) {
			own.drop()
			return f, cmp.Or(err, guard.ErrConnectionClosed)
		}
		f.own = own
		return f, nil
	}}
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
	return existenceReading.watched(ctx, c, path)
}

// ChildrenWatch is Children with a watch for the creation or deletion of a child and
// the deletion of the node. There is no watch if it fails.
func (c *Client) ChildrenWatch(ctx context.Context, path string) ([]string, Stat, *Watch, error) {
	return childrenReading.watched(ctx, c, path)
}
