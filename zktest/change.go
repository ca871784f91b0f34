package zktest

import "github.com/zkrecipes/zkrecipes/internal/jute"

// changeKind is what a change does to the tree.
type changeKind int8

const (
	addNode changeKind = iota
	removeNode
	setNodeData
	setNodeACL
)

// change is one committed step. All checks against the newest tree are done, so every
// replica can apply it without further checks, now or later.
type change struct {
	kind    changeKind
	path    string
	data    []byte
	acl     []jute.ACL
	version int32 // new version of the data or the ACL
	zxid    int64
	time    int64 // milliseconds since 1970

	node         nodeKind // this and the rest: addNode only
	owner        int64
	ttl          int64
	parentCreate int32 // the parent's new count of creations
	wrap         bool  // the count may become negative
}

// undo is the state that a change replaced.
type undo struct {
	change       change
	node, parent *node // copies of the structs before the change, nil where there was none
}

// apply makes a change and returns how to undo it.
func (t *tree) apply(c *change) undo {
	u := undo{change: *c}
	if n := t.get(c.path); n != nil {
		before := *n
		u.node = &before
	}
	switch c.kind {
	case addNode, removeNode:
		parent, _, _ := splitPath(c.path)
		p := t.get(parent)
		before := *p
		u.parent = &before
		if c.kind == addNode {
			t.add(p, c)
			break
		}
		t.unlink(c.path)
		p.stat.Pzxid = c.zxid
	case setNodeData:
		n := t.get(c.path)
		n.data, n.stat.Version, n.stat.Mzxid, n.stat.Mtime = c.data, c.version, c.zxid, c.time
	case setNodeACL:
		n := t.get(c.path)
		n.acl, n.stat.Aversion = c.acl, c.version
	}
	return u
}

// add links the node that an addNode change describes under its parent p.
func (t *tree) add(p *node, c *change) {
	n := &node{data: c.data, acl: c.acl, kind: c.node, ttl: c.ttl}
	n.stat = jute.Stat{Czxid: c.zxid, Mzxid: c.zxid, Pzxid: c.zxid, Ctime: c.time, Mtime: c.time, EphemeralOwner: c.owner}
	t.link(c.path, n)
	// In a real server the count never becomes smaller. So it stays at 2147483647, and
	// so do the numbers of sequential nodes and the parent's pzxid.
	if c.wrap || c.parentCreate > p.stat.Cversion {
		p.stat.Cversion = c.parentCreate
		p.stat.Pzxid = c.zxid
	}
}

// revert undoes a change. The last change must be undone first.
func (t *tree) revert(u undo) {
	path := u.change.path
	switch u.change.kind {
	case addNode:
		t.unlink(path)
	case removeNode:
		t.link(path, u.node)
	default:
		*t.get(path) = *u.node
	}
	if u.parent != nil {
		parent, _, _ := splitPath(path)
		t.get(parent).stat = u.parent.stat
	}
}
