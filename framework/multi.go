package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// An Op is one operation of a Multi.
type Op struct {
	kind     opKind
	path     string
	absolute bool // path is the one on the server
	data     []byte
	mode     Mode
	create   createOptions
	version  int32
}

type opKind int

const (
	opNone opKind = iota
	opMakes
	opSets
	opRemoves
	opChecks
)

// CreateOp creates a node. A Multi cannot make containers and nodes with a time to
// live: the library cannot read the answer.
func CreateOp(path string, data []byte, mode Mode, opts ...CreateOption) Op {
	return Op{kind: opMakes, path: path, data: data, mode: mode, create: chosen(opts)}
}

// SetOp replaces a node's data if its version is the one given, or any if that is
// AnyVersion.
func SetOp(path string, data []byte, version int32) Op {
	return Op{kind: opSets, path: path, data: data, version: version}
}

// DeleteOp removes a node if its version is the one given, or any if that is
// AnyVersion.
func DeleteOp(path string, version int32) Op {
	return Op{kind: opRemoves, path: path, version: version}
}

// CheckOp makes the whole Multi fail unless the node exists and has the version given,
// or any if that is AnyVersion.
func CheckOp(path string, version int32) Op {
	return Op{kind: opChecks, path: path, version: version}
}

// An OpResult is the result of one operation of a Multi.
type OpResult struct {
	// Path is the path of the node that was created, else "".
	Path string
	// Stat is the new Stat of a node whose data was set, else zero.
	Stat Stat
	// Err is why this operation made the Multi fail. It is nil for those before it, and
	// ErrNotTried for those behind it.
	Err error
}

// ErrNotTried is the result of the operations behind the one that made a Multi fail.
var ErrNotTried = errors.New("not tried, an operation before it failed")

// A MultiError is the error of a Multi that had no effect because of one operation.
type MultiError struct {
	// Index is that of the operation among those given to Multi.
	Index int
	// Err is its failure, an *OpError.
	Err error
}

// Error names the operation and its failure.
func (e *MultiError) Error() string { return fmt.Sprintf("multi: ops[%d]: %v", e.Index, e.Err) }

// Unwrap returns the failure.
func (e *MultiError) Unwrap() error { return e.Err }

// Multi carries out all operations as one transaction, or none. If one of them fails,
// the error is a *MultiError, and the results say so too. After an unknown outcome, all
// or none may have been carried out. A Multi of nothing but checks is a read through
// the leader, and repeated as reads are.
func (c *Client) Multi(ctx context.Context, ops ...Op) ([]OpResult, error) {
	_, results, err := c.multi(ctx, ops, nil)
	return results, err
}

// A multiReply is what the library says of a Multi, and its zxid.
type multiReply struct {
	results []zk.MultiResponse
	zxid    int64
}

// multi also returns the id of the transaction, if its first operation was a create,
// and 0 if that is not known.
func (c *Client) multi(ctx context.Context, ops []Op, late func(made []string, err error)) (zxid int64, results []OpResult, err error) {
	if err := c.usable(); err != nil {
		return 0, nil, &OpError{Op: "multi", Outcome: Failed, Err: err}
	}
	ops = slices.Clone(ops)
	requests, err := c.multiRequests(ops)
	if err != nil {
		return 0, nil, err
	}
	// Without a change it may be repeated as reads are.
	reads := !slices.ContainsFunc(ops, func(op Op) bool { return op.kind != opChecks })
	r := request[multiReply]{op: "multi", path: "/", idempotent: reads, reads: reads}
	r.send = func(s *Session, _ string) (multiReply, error) { return s.multi(requests) }
	if late != nil {
		r.late = func(v multiReply, err error) { late(madeBy(v.results), err) }
	}
	v, err := do(ctx, c, r)
	var opErr *OpError
	if errors.As(err, &opErr) {
		opErr.Path = ""
	}
	results, failed := c.multiResults(ops, v.results, err)
	if failed >= 0 {
		session := int64(0)
		if opErr != nil {
			session = opErr.Session
		}
		err = failedOp(ops, failed, session, explainACL(results[failed].Err, ops[failed].create.acl))
	}
	return v.zxid, results, err
}

// failedOp is the error of a Multi that certainly failed, because of one operation.
func failedOp(ops []Op, i int, session int64, err error) error {
	op := nameOf(ops[i].kind, "operation", "empty operation", "create", "set", "delete", "check")
	return &MultiError{Index: i, Err: &OpError{Op: op, Path: ops[i].path, Session: session, Outcome: Failed, Err: err}}
}

// multi makes the library's call, and counts the ephemeral nodes.
func (s *Session) multi(requests []any) (v multiReply, err error) {
	reserved := map[int]string{}
	defer func() { // creates first: what one has made another operation may have removed
		for i, asked := range reserved {
			made := ""
			if err == nil {
				made = v.results[i].String
			}
			s.quota.replace(asked, made)
		}
		for _, r := range requests {
			if d, ok := r.(*zk.DeleteRequest); ok && err == nil {
				s.gone(d.Path)
			}
		}
	}()
	for i, r := range requests {
		create, ok := r.(*zk.CreateRequest)
		if !ok || create.Flags&zk.FlagEphemeral == 0 {
			continue
		}
		if err := s.quota.reserve(create.Path); err != nil {
			return v, err
		}
		reserved[i] = create.Path
	}
	v.results, err = s.conn.Multi(requests...)
	if err == nil && len(v.results) != len(requests) {
		err = errMalformedAnswer
	}
	if len(v.results) > 0 && err == nil {
		v.zxid = s.guard.TakeZxid(v.results[0].String)
	}
	return v, err
}

// madeBy returns the paths of all nodes that a Multi made.
func madeBy(results []zk.MultiResponse) (paths []string) {
	for _, r := range results {
		if r.String != "" {
			paths = append(paths, r.String)
		}
	}
	return paths
}

// multiRequests translates the operations for the library, and completes their ACLs.
func (c *Client) multiRequests(ops []Op) (requests []any, err error) {
	size := requestOverhead
	for i := range ops {
		request, bytes, err := c.multiRequest(&ops[i])
		if err != nil {
			return nil, failedOp(ops, i, 0, err)
		}
		requests = append(requests, request)
		size += bytes
	}
	return requests, c.checkBytes("multi", "", size)
}

func (c *Client) multiRequest(op *Op) (request any, size int, err error) {
	if err := validatePath(op.path, op.mode.sequential()); err != nil {
		return nil, 0, err
	}
	path := op.path
	if !op.absolute {
		path = c.full(path)
	}
	switch op.kind {
	case opMakes:
		flags, ok := createFlags[op.mode]
		if !ok {
			return nil, 0, invalid("a %v node cannot be made in a multi", op.mode)
		}
		if op.create.ttl != 0 {
			return nil, 0, invalid("a node with a time to live cannot be made in a multi")
		}
		if op.create.acl == nil {
			op.create.acl = c.core.cfg.ACL(path)
		}
		request = &zk.CreateRequest{Path: path, Data: op.data, Acl: convertACL[zk.ACL](op.create.acl), Flags: flags}
		err = validateACL(op.create.acl)
	case opSets:
		request = &zk.SetDataRequest{Path: path, Data: op.data, Version: op.version}
	case opRemoves:
		request = &zk.DeleteRequest{Path: path, Version: op.version}
	case opChecks:
		request = &zk.CheckVersionRequest{Path: path, Version: op.version}
	default:
		err = invalid("empty operation")
	}
	return request, c.requestSize(path, op.data, op.create.acl), err
}

// multiResults translates the library's results and finds the operation that failed, -1
// if none did. Those behind it have a code that means "rolled back".
func (c *Client) multiResults(ops []Op, theirs []zk.MultiResponse, err error) (results []OpResult, failed int) {
	failed = -1
	if len(theirs) != len(ops) {
		return nil, failed
	}
	results = make([]OpResult, len(ops))
	for i, r := range theirs {
		switch {
		case failed >= 0:
			results[i].Err = ErrNotTried
		case r.Error != nil:
			_, results[i].Err = classify(r.Error)
			failed = i
		case err == nil:
			if r.String != "" {
				results[i].Path = c.local(r.String)
			}
			results[i].Stat = toStat(r.Stat)
		}
	}
	return results, failed
}
