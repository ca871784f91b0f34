package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// An Op is one operation of a Multi.
type Op struct {
	kind     opKind
	path     string
	given    string // the path as the caller gave it
	absolute bool   // path is the one on the server
	data     []byte
	mode     Mode
	create   createOptions
	version  int32
	unless   *func() error // a check fails if it returns an error; a pointer, so that copies are equal
	all      *[]Op         // that it stands for
}

type opKind int

const (
	opNone opKind = iota
	opMakes
	opSets
	opRemoves
	opChecks
	opAll
)

// CreateOp creates a node. A Multi cannot make containers and nodes with a time to
// live.
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
	_, results, err := c.multi(ctx, ops, nil, nil)
	return results, err
}

// A multiReply is what the server says of a Multi: of each operation, and the id of the
// transaction.
type multiReply struct {
	results []opReply
	zxid    int64
}

// An opReply is what the server says of one operation.
type opReply struct {
	path string // on the server
	stat Stat
	code int32 // why it failed
}

// multi also returns the id of the transaction. It calls behind for every attempt,
// unless it is nil.
func (c *Client) multi(ctx context.Context, ops []Op, behind func(), late func(made []string, outcome Outcome)) (zxid int64, results []OpResult, err error) {
	if err := c.usable(); err != nil {
		return 0, nil, &OpError{Op: "multi", Outcome: Failed, Err: err}
	}
	sent := transactionOf(ops)
	ops = sent.ops
	if err := c.completeOps(sent); err != nil {
		return 0, nil, err
	}
	// Without a change it may be repeated as reads are.
	reads := !slices.ContainsFunc(ops, func(op Op) bool { return op.kind != opChecks })
	r := request[multiReply]{op: "multi", path: "/", idempotent: reads, reads: reads}
	r.deletes = slices.ContainsFunc(ops, func(op Op) bool { return op.kind == opRemoves })
	r.start = func(s *Session, _ string) (attempt[multiReply], error) { return s.multi(ops, behind) }
	if late != nil {
		r.late = func(v multiReply, outcome Outcome) { late(madeBy(v.results), outcome) }
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
		err = sent.failed(failed, session, explainACL(results[failed].Err, ops[failed].create.acl))
	}
	return v.zxid, sent.results(results), err
}

// failed is the error of a Multi that certainly failed, because of one operation.
func (t transaction) failed(i int, session int64, err error) error {
	op := t.ops[i]
	name := nameOf(op.kind, "operation", "empty operation", "create", "set", "delete", "check")
	return &MultiError{Index: t.of[i], Err: &OpError{Op: name, Path: cmp.Or(op.given, op.path), Session: session, Outcome: Failed, Err: err}}
}

// multi is an attempt, and counts the ephemeral nodes.
func (s *Session) multi(ops []Op, behind func()) (a attempt[multiReply], err error) {
	if err := refuseHere(ops); err != nil {
		return a, err
	}
	for i, op := range ops {
		if op.kind == opMakes && op.mode.ephemeral() {
			if err = s.quota.reserve(op.path); err != nil {
				s.countMulti(ops[:i], nil)
				return a, err
			}
		}
	}
	a.code, a.record, a.behind = guard.OpMulti, multiRecord(ops), behind
	a.finish = func(a guard.Answer, err error) (v multiReply, _ error) {
		if err == nil {
			v.results, err = decodeMulti(jute.NewDecoder(a.Body), len(ops))
		}
		if err == nil {
			v.zxid = a.Zxid
			s.countMulti(ops, v.results)
		} else {
			s.countMulti(ops, nil)
		}
		return v, err
	}
	return a, nil
}

// countMulti replaces what was reserved by what the operations have done, nil for
// nothing; creates first: what one has made another may have removed.
func (s *Session) countMulti(ops []Op, did []opReply) {
	for i, op := range ops {
		if op.kind != opMakes || !op.mode.ephemeral() {
			continue
		}
		made := ""
		if did != nil {
			made = did[i].path
		}
		s.quota.replace(op.path, made)
	}
	for _, op := range ops {
		if op.kind == opRemoves && did != nil {
			s.gone(op.path)
		}
	}
}

// madeBy returns the paths of all nodes that a Multi made.
func madeBy(results []opReply) (paths []string) {
	for _, r := range results {
		if r.path != "" {
			paths = append(paths, r.path)
		}
	}
	return paths
}

// completeOps checks the operations, and gives them their paths on the server and their
// ACLs.
func (c *Client) completeOps(t transaction) error {
	for i := range t.ops {
		if err := c.completeOp(&t.ops[i]); err != nil {
			return t.failed(i, 0, err)
		}
	}
	return nil
}

func (c *Client) completeOp(op *Op) error {
	if err := validatePath(op.path, op.mode.sequential()); err != nil {
		return err
	}
	if op.given = op.path; !op.absolute {
		op.path = c.full(op.path)
	}
	switch op.kind {
	case opMakes:
		if op.mode < Persistent || op.mode >= Container {
			return invalid("a %v node cannot be made in a multi", op.mode)
		}
		if op.create.ttl != 0 {
			return invalid("a node with a time to live cannot be made in a multi")
		}
		if op.create.acl == nil {
			op.create.acl = c.core.cfg.ACL(op.path)
		}
		return validateACL(op.create.acl)
	case opSets, opRemoves, opChecks:
		return nil
	default:
		return invalid("empty operation")
	}
}

// multiResults translates the server's results and finds the operation that failed, -1
// if none did. Those behind it have a code that means "rolled back".
func (c *Client) multiResults(ops []Op, theirs []opReply, err error) (results []OpResult, failed int) {
	failed = -1
	var here *refusedHereError
	if errors.As(err, &here) {
		return here.results(len(ops)), here.index
	}
	if len(theirs) != len(ops) {
		return nil, failed
	}
	results = make([]OpResult, len(ops))
	for i, r := range theirs {
		switch {
		case failed >= 0:
			results[i].Err = ErrNotTried
		case r.code != 0:
			_, results[i].Err = outcomeOf(guard.Answer{Code: r.code})
			failed = i
		case err == nil:
			if r.path != "" {
				results[i].Path = c.local(r.path)
			}
			results[i].Stat = r.stat
		}
	}
	return results, failed
}
