package framework

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// AnyVersion makes a set or delete unconditional.
const AnyVersion int32 = -1

// A Stat describes a znode.
type Stat struct {
	// Czxid and Mzxid are the ids of the transactions that created the node and last
	// changed its data; Pzxid of the one that last changed its children.
	Czxid, Mzxid, Pzxid int64
	// Ctime and Mtime are the server's wall clock times of the first two.
	Ctime, Mtime time.Time
	// Version, Cversion and Aversion count the changes of data, children and ACL.
	Version, Cversion, Aversion int32
	// EphemeralOwner is the id of the session an ephemeral node belongs to, 0 for all
	// other nodes.
	EphemeralOwner int64
	// DataLength is the size of the data in bytes.
	DataLength int32
	// NumChildren is the number of children.
	NumChildren int32
}

func toStat(s *zk.Stat) Stat {
	if s == nil {
		return Stat{}
	}
	return Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// A reading is one kind of read, as the library makes it: alone, and with a watch.
type reading[T any] struct {
	op   string
	kind watchKind
	read func(conn *zk.Conn, path string) (T, *zk.Stat, error)
	set  func(conn *zk.Conn, path string) (T, *zk.Stat, <-chan zk.Event, error)

	send func(s *Session, path string) (watched[T], error) // read in a session
}

var (
	dataReading      = newReading("get", dataWatch, (*zk.Conn).Get, (*zk.Conn).GetW)
	existenceReading = newReading("exists", existsWatch, (*zk.Conn).Exists, (*zk.Conn).ExistsW)
	childrenReading  = newReading("children", childWatch, (*zk.Conn).Children, (*zk.Conn).ChildrenW)
	aclReading       = newReading("getACL", 0, (*zk.Conn).GetACL, nil)
)

func newReading[T any](op string, kind watchKind, read func(*zk.Conn, string) (T, *zk.Stat, error), set func(*zk.Conn, string) (T, *zk.Stat, <-chan zk.Event, error)) *reading[T] {
	return &reading[T]{op, kind, read, set, func(s *Session, path string) (v watched[T], err error) {
		v.value, v.stat, err = read(s.conn, path)
		return v, err
	}}
}

// plain reads without a watch.
func (r *reading[T]) plain(ctx context.Context, c *Client, path string) (value T, stat Stat, err error) {
	return r.with(ctx, c, request[watched[T]]{path: path})
}

// with makes a request a plain read, and sends it.
func (r *reading[T]) with(ctx context.Context, c *Client, how request[watched[T]]) (value T, stat Stat, err error) {
	how.op, how.idempotent, how.reads, how.send = r.op, true, true, r.send
	v, err := do(ctx, c, how)
	if err != nil {
		return value, stat, err
	}
	return v.value, toStat(v.stat), nil
}

// Get returns a node's data and Stat, or ErrNoNode. The data may lag behind the
// ensemble's; Sync first to see all that was written before.
func (c *Client) Get(ctx context.Context, path string) ([]byte, Stat, error) {
	return dataReading.plain(ctx, c, path)
}

// Exists reports whether a node exists and returns its Stat if it does.
func (c *Client) Exists(ctx context.Context, path string) (bool, Stat, error) {
	exists, stat, err := existenceReading.plain(ctx, c, path)
	if !exists {
		stat = Stat{}
	}
	return exists, stat, err
}

// Children returns the names of a node's children, in no order, and the node's Stat, or
// ErrNoNode.
func (c *Client) Children(ctx context.Context, path string) ([]string, Stat, error) {
	return childrenReading.plain(ctx, c, path)
}

// Set replaces a node's data if its version is the one given, or any if that is
// AnyVersion, and returns the new Stat. Errors: ErrNoNode, ErrBadVersion. Update is a
// compare-and-set that also knows its own write when the answer is dropped.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (Stat, error) {
	if err := c.checkSize("set", path, data, nil); err != nil {
		return Stat{}, err
	}
	return c.change(ctx, "set", path, func(conn *zk.Conn, path string) (*zk.Stat, error) {
		return conn.Set(path, data, version)
	})
}

// change runs a write whose answer is the node's new Stat.
func (c *Client) change(ctx context.Context, op, path string, send func(conn *zk.Conn, path string) (*zk.Stat, error)) (Stat, error) {
	stat, err := do(ctx, c, request[*zk.Stat]{op: op, path: path, send: func(s *Session, path string) (*zk.Stat, error) {
		return send(s.conn, path)
	}})
	if err != nil {
		return Stat{}, err
	}
	return toStat(stat), nil
}

// Delete removes a node without children if its version is the one given, or any if
// that is AnyVersion. Errors: ErrNoNode, ErrBadVersion, ErrNotEmpty. DeleteGuaranteed
// goes on after an unknown outcome.
func (c *Client) Delete(ctx context.Context, path string, version int32) error {
	_, err := do(ctx, c, deleteRequest(path, version))
	return err
}

// deleteRequest returns the request of a delete.
func deleteRequest(path string, version int32) request[struct{}] {
	r := request[struct{}]{op: "delete", path: path, send: sendDelete}
	if version != AnyVersion {
		r.send = func(s *Session, path string) (struct{}, error) { return s.delete(path, version) }
	}
	return r
}

func sendDelete(s *Session, path string) (struct{}, error) { return s.delete(path, AnyVersion) }

// delete makes the library's call, and counts the node no longer.
func (s *Session) delete(path string, version int32) (none struct{}, err error) {
	err = s.conn.Delete(path, version)
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		s.gone(path)
	}
	return none, err
}

// Sync waits until the server that the session is attached to has caught up with the
// leader: reads that follow see every write that was complete before.
func (c *Client) Sync(ctx context.Context, path string) error {
	_, err := do(ctx, c, request[string]{op: "sync", path: path, idempotent: true, reads: true, send: func(s *Session, path string) (string, error) {
		return s.conn.Sync(path)
	}})
	return err
}
