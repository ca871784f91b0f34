package framework

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
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

func decodeStat(d *jute.Decoder) Stat {
	s := d.Stat()
	return Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// A reading is one kind of read.
type reading[T any] struct {
	op     string
	code   int32
	kind   watchKind
	decode func(d *jute.Decoder) T // what comes before the Stat
	start  func(s *Session, path string) (attempt[found[T]], error)
	finish func(a guard.Answer, err error) (found[T], error)
}

var (
	dataReading = newReading("get", guard.OpGetData, dataWatch, func(d *jute.Decoder) []byte { return bytes.Clone(d.Buffer()) })

	existenceReading = newReading("exists", guard.OpExists, existsWatch, func(*jute.Decoder) bool { return true })
	childrenReading  = newReading("children", guard.OpGetChildren2, childWatch, decodeNames)
	aclReading       = newReading("getACL", guard.OpGetACL, 0, decodeACL)
)

func newReading[T any](op string, code int32, kind watchKind, decode func(d *jute.Decoder) T) *reading[T] {
	r := &reading[T]{op: op, code: code, kind: kind, decode: decode}
	r.start, r.finish = r.unwatched, r.find
	return r
}

// A found is what a read has found. own is nil if it left no watch.
type found[T any] struct {
	value T
	stat  Stat
	own   *waiter
}

// record is what to send for the read.
func (r *reading[T]) record(path string, watch bool) []byte {
	if r.code == guard.OpGetACL {
		return pathRecord(path)
	}
	return readRecord(path, watch)
}

// find reads an answer. That there is no node is one for some reads.
func (r *reading[T]) find(a guard.Answer, err error) (f found[T], _ error) {
	if errors.Is(err, ErrNoNode) && r.code == guard.OpExists {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	d := jute.NewDecoder(a.Body)
	f.value, f.stat = r.decode(d), decodeStat(d)
	return f, nil
}

// unwatched is an attempt without a watch.
func (r *reading[T]) unwatched(_ *Session, path string) (attempt[found[T]], error) { //nolint:unparam // as a request wants it
	return attempt[found[T]]{code: r.code, record: r.record(path, false), finish: r.finish}, nil
}

// plain reads without a watch.
func (r *reading[T]) plain(ctx context.Context, c *Client, path string) (value T, stat Stat, err error) {
	f, err := do(ctx, c, request[found[T]]{op: r.op, path: path, idempotent: true, reads: true, start: r.start})
	return f.value, f.stat, err
}

// Get returns a node's data and Stat, or ErrNoNode. The data may lag behind the
// ensemble's; Sync first to see all that was written before.
func (c *Client) Get(ctx context.Context, path string) ([]byte, Stat, error) {
	return dataReading.plain(ctx, c, path)
}

// Exists reports whether a node exists and returns its Stat if it does.
func (c *Client) Exists(ctx context.Context, path string) (bool, Stat, error) {
	return existenceReading.plain(ctx, c, path)
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
	return c.change(ctx, "set", path, func(path string) (int32, []byte) { return guard.OpSetData, dataRecord(path, data, version) })
}

// change runs a write whose answer is the node's new Stat.
func (c *Client) change(ctx context.Context, op, path string, record func(path string) (code int32, record []byte)) (Stat, error) {
	return do(ctx, c, request[Stat]{op: op, path: path, start: func(_ *Session, path string) (a attempt[Stat], _ error) {
		a.code, a.record = record(path)
		a.finish = func(a guard.Answer, err error) (stat Stat, _ error) {
			if err == nil {
				stat = decodeStat(jute.NewDecoder(a.Body))
			}
			return stat, err
		}
		return a, nil
	}})
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
	return request[struct{}]{op: "delete", path: path, deletes: true, start: func(s *Session, path string) (attempt[struct{}], error) {
		return s.delete(path, version), nil
	}}
}

// delete is an attempt.
func (s *Session) delete(path string, version int32) attempt[struct{}] {
	return attempt[struct{}]{code: guard.OpDelete, record: versionRecord(path, version), finish: func(_ guard.Answer, err error) (none struct{}, _ error) {
		s.deleteAnswered(path, err)
		return none, err
	}}
}

// Sync waits until the server that the session is attached to has caught up with the
// leader: reads that follow see every write that was complete before.
func (c *Client) Sync(ctx context.Context, path string) error {
	_, err := do(ctx, c, request[struct{}]{op: "sync", path: path, idempotent: true, reads: true, start: func(_ *Session, path string) (attempt[struct{}], error) {
		return attempt[struct{}]{code: guard.OpSync, record: pathRecord(path), finish: func(_ guard.Answer, err error) (none struct{}, _ error) { return none, err }}, nil
	}})
	return err
}
