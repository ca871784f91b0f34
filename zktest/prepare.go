package zktest

import (
	"fmt"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// Flags of a create, as on the wire.
const (
	flagPersistent           int32 = 0
	flagEphemeral            int32 = 1
	flagSequential           int32 = 2
	flagEphemeralSequential  int32 = 3
	flagContainer            int32 = 4
	flagTTL                  int32 = 5
	flagPersistentSequentTTL int32 = 6
)

// maxTTL is ZooKeeper's longest time to live, in milliseconds.
const maxTTL = 1<<40 - 1

// createRequest is a create of any kind.
type createRequest struct {
	op    Op
	path  string
	data  []byte
	acl   []jute.ACL
	flags int32
	ttl   int64
}

// preparer checks writes against the newest tree and computes their changes. It makes
// no change itself.
type preparer struct {
	tree    *tree
	ids     []jute.ID // identities of the client
	session int64
	zxid    int64
	time    int64
	noTTL   bool
	wrap    bool
}

// create checks a create in the order of a real server, which decides the error of a
// request with several faults.
func (p *preparer) create(r createRequest) (change, error) {
	c := change{kind: addNode, path: r.path, data: r.data, zxid: p.zxid, time: p.time}
	if err := p.checkMode(r); err != nil {
		return c, err
	}
	parentPath, _, ok := splitPath(r.path)
	if !ok {
		return c, BadArguments
	}
	acl, err := expandACL(r.acl, p.ids)
	if err != nil {
		return c, err
	}
	c.acl = acl
	parent := p.tree.get(parentPath)
	if parent == nil {
		return c, NoNode
	}
	if !allowed(parent.acl, permCreate, p.ids) {
		return c, NoAuth
	}
	if sequential(r.flags) {
		c.path += fmt.Sprintf("%010d", parent.stat.Cversion)
	}
	switch {
	case !validPath(c.path):
		return c, BadArguments
	case p.tree.get(c.path) != nil:
		return c, NodeExists
	case parent.kind == ephemeral:
		return c, NoChildrenForEphemerals
	}
	c.parentCreate, c.wrap = parent.stat.Cversion+1, p.wrap
	c.node, c.owner, c.ttl = p.lifetime(r)
	return c, nil
}

// checkMode checks the flags and the time to live.
func (p *preparer) checkMode(r createRequest) error {
	if r.flags < flagPersistent || r.flags > flagPersistentSequentTTL {
		return BadArguments
	}
	isTTL := r.flags == flagTTL || r.flags == flagPersistentSequentTTL
	switch {
	case isTTL && p.noTTL:
		return Unimplemented
	case isTTL && (r.op != OpCreateTTL || r.ttl <= 0 || r.ttl > maxTTL):
		return BadArguments
	case !isTTL && r.op == OpCreateTTL:
		// A real 3.8.0 crashes on this, and then on its log at each start. No client
		// sends it.
		return BadArguments
	}
	return nil
}

// lifetime returns what ends the new node's life. The kind of request decides about
// containers and times to live, its flags about ephemeral nodes: a plain create with
// the container flag makes a plain node.
func (p *preparer) lifetime(r createRequest) (kind nodeKind, owner, millis int64) {
	switch {
	case r.op == OpCreateContainer:
		return container, 0, 0
	case r.op == OpCreateTTL:
		return ttl, 0, r.ttl
	case r.flags == flagEphemeral || r.flags == flagEphemeralSequential:
		return ephemeral, p.session, 0
	}
	return persistent, 0, 0
}

func sequential(flags int32) bool {
	return flags == flagSequential || flags == flagEphemeralSequential || flags == flagPersistentSequentTTL
}

// remove checks a delete.
func (p *preparer) remove(path string, version int32) (change, error) {
	c := change{kind: removeNode, path: path, zxid: p.zxid, time: p.time}
	parentPath, _, ok := splitPath(path)
	if !ok || protected(path) {
		return c, BadArguments
	}
	parent := p.tree.get(parentPath)
	if parent == nil {
		return c, NoNode
	}
	if !allowed(parent.acl, permDelete, p.ids) {
		return c, NoAuth
	}
	n := p.tree.get(path)
	switch {
	case n == nil:
		return c, NoNode
	case version != -1 && version != n.stat.Version:
		return c, BadVersion
	case len(n.children) > 0:
		return c, NotEmpty
	}
	return c, nil
}

// setData checks a setData.
func (p *preparer) setData(path string, data []byte, version int32) (change, error) {
	c := change{kind: setNodeData, path: path, data: data, zxid: p.zxid, time: p.time}
	n, err := p.existing(path, permWrite)
	if err != nil {
		return c, err
	}
	if version != -1 && version != n.stat.Version {
		return c, BadVersion
	}
	c.version = n.stat.Version + 1
	return c, nil
}

// setACL checks a setACL.
func (p *preparer) setACL(path string, acl []jute.ACL, version int32) (change, error) {
	c := change{kind: setNodeACL, path: path, zxid: p.zxid, time: p.time}
	if !validPath(path) {
		return c, BadArguments
	}
	expanded, err := expandACL(acl, p.ids)
	if err != nil {
		return c, err
	}
	c.acl = expanded
	n, err := p.existing(path, permAdmin)
	if err != nil {
		return c, err
	}
	if version != -1 && version != n.stat.Aversion {
		return c, BadVersion
	}
	c.version = n.stat.Aversion + 1
	return c, nil
}

// check checks the check of a multi.
func (p *preparer) check(path string, version int32) error {
	n, err := p.existing(path, permRead)
	if err != nil {
		return err
	}
	if version != -1 && version != n.stat.Version {
		return BadVersion
	}
	return nil
}

// existing returns a node for which the client has a permission.
func (p *preparer) existing(path string, perm int32) (*node, error) {
	if !validPath(path) {
		return nil, BadArguments
	}
	n := p.tree.get(path)
	if n == nil {
		return nil, NoNode
	}
	if !allowed(n.acl, perm, p.ids) {
		return nil, NoAuth
	}
	return n, nil
}
