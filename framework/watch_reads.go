package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/retry"
)

// watched is the result of a read that left a watch.
type watched[T any] struct {
	value T
	watch *Watch
	spot  *watchSpot
}

// readWatch runs a read together with its watch. plain reads without setting a
// watch, for when the server has it already; set reads and sets it. hasWatch says
// whether the server keeps the watch although set returned that error.
func readWatch[T any](ctx context.Context, c *Client, op, path string, kind watchKind,
	plain, set func(conn *zk.Conn, path string) (T, error), hasWatch func(error) bool,
) (T, *Watch, error) {
	r := request[watched[T]]{op: op, path: path, idempotent: true, reads: true}
	r.send = func(s *Session, path string) (watched[T], error) {
		if retry.Sleep(s.ctx, s.gate.expectWatches()) != nil {
			return watched[T]{}, zk.ErrConnectionClosed // over before anything was sent
		}
		spot, w, armed := s.watch.join(watchKey{kind, path})
		var v T
		var err error
		if armed {
			v, err = plain(s.conn, path)
		} else {
			v, err = set(s.conn, path)
			if hasWatch(err) {
				spot.arm()
			}
		}
		if err != nil || context.Cause(s.ctx) != nil {
			if err == nil { // over since; its end may have been told before we joined
				err = zk.ErrConnectionClosed
			}
			spot.drop(w)
			return watched[T]{}, err
		}
		return watched[T]{v, w, spot}, nil
	}
	r.late = func(_ *Session, v watched[T], err error) {
		if err == nil {
			v.spot.drop(v.watch)
		}
	}
	v, err := do(ctx, c, r)
	if err != nil {
		return v.value, nil, err
	}
	v.watch.bind(ctx, v.spot)
	return v.value, v.watch, nil
}

func ifNil(err error) bool { return err == nil }

// GetWatch is Get with a watch for a change of the data or the deletion of the
// node. There is no watch if it fails.
func (c *Client) GetWatch(ctx context.Context, path string) ([]byte, Stat, *Watch, error) {
	set := func(conn *zk.Conn, path string) (dataReply, error) {
		data, stat, _, err := conn.GetW(path)
		return dataReply{data, stat}, err
	}
	r, w, err := readWatch(ctx, c, "get", path, dataWatch, readData, set, ifNil)
	if err != nil {
		return nil, Stat{}, nil, err
	}
	return r.data, toStat(r.stat), w, nil
}

// ExistsWatch is Exists with a watch for the creation of the node, or for a
// change of its data or its deletion if it exists. A watch on a node that is
// never created stays for the life of the session: use GetWatch where the node
// should exist.
func (c *Client) ExistsWatch(ctx context.Context, path string) (bool, Stat, *Watch, error) {
	set := func(conn *zk.Conn, path string) (existsReply, error) {
		exists, stat, _, err := conn.ExistsW(path)
		return existsReply{exists, stat}, err
	}
	noNode := func(err error) bool { return err == nil || errors.Is(err, zk.ErrNoNode) }
	r, w, err := readWatch(ctx, c, "exists", path, existsWatch, readExists, set, noNode)
	if err != nil {
		return false, Stat{}, nil, err
	}
	if !r.exists {
		return false, Stat{}, w, nil
	}
	return true, toStat(r.stat), w, nil
}

// ChildrenWatch is Children with a watch for the creation or deletion of a child
// and the deletion of the node. There is no watch if it fails.
func (c *Client) ChildrenWatch(ctx context.Context, path string) ([]string, Stat, *Watch, error) {
	set := func(conn *zk.Conn, path string) (childrenReply, error) {
		names, stat, _, err := conn.ChildrenW(path)
		return childrenReply{names, stat}, err
	}
	r, w, err := readWatch(ctx, c, "children", path, childWatch, readChildren, set, ifNil)
	if err != nil {
		return nil, Stat{}, nil, err
	}
	return r.names, toStat(r.stat), w, nil
}
