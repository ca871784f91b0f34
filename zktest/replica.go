package zktest

import (
	"maps"
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// replica is one copy of the tree with the watches of its readers. The server has one
// that is up to date, and one for each client that lags (see [Server.Lag]), which
// applies the same changes later.
type replica struct {
	tree     *tree
	data     *watchTable // watches on a node's existence and data
	children *watchTable // watches on the list of a node's children
	zxid     int64       // last transaction applied
	backlog  []commit    // committed, not yet applied; always empty for the replica that is up to date
}

// commit is one transaction. It has no changes if the request failed or opened a
// session.
type commit struct {
	zxid    int64
	changes []change
}

// firing is one watch event on its way to one connection.
type firing struct {
	conn  *conn
	event eventType
	path  string
}

func newReplica() *replica {
	return &replica{tree: newTree(), data: newWatchTable(), children: newWatchTable()}
}

// take applies a transaction and returns the events it causes, in order.
func (r *replica) take(t commit) []firing {
	var out []firing
	for i := range t.changes {
		c := &t.changes[i]
		u := r.tree.apply(c)
		out = r.fire(out, c, &u)
	}
	r.zxid = t.zxid
	return out
}

// catchUp applies the backlog.
func (r *replica) catchUp() []firing {
	var out []firing
	for _, t := range r.backlog {
		out = append(out, r.take(t)...)
	}
	r.backlog = nil
	return out
}

// fire appends the events of one change. A client gets none about nodes that it may not
// read.
func (r *replica) fire(out []firing, c *change, u *undo) []firing {
	if len(r.data.byPath)+len(r.children.byPath) == 0 {
		return out
	}
	parent, _, _ := splitPath(c.path)
	if parent == "" {
		parent = rootPath
	}
	notify := func(receivers []*conn, event eventType, path string, acl []jute.ACL, except []*conn) {
		for _, h := range receivers {
			if !slices.Contains(except, h) && allowed(acl, permRead, h.auth) {
				out = append(out, firing{h, event, path})
			}
		}
	}
	switch c.kind {
	case addNode:
		notify(r.data.trigger(c.path, nodeCreated), nodeCreated, c.path, c.acl, nil)
	case removeNode:
		receivers := r.data.trigger(c.path, nodeDeleted)
		notify(receivers, nodeDeleted, c.path, u.node.acl, nil)
		notify(r.children.trigger(c.path, nodeDeleted), nodeDeleted, c.path, u.node.acl, receivers)
	case setNodeData:
		notify(r.data.trigger(c.path, nodeDataChanged), nodeDataChanged, c.path, r.tree.get(c.path).acl, nil)
	case setNodeACL:
	}
	if c.kind == addNode || c.kind == removeNode {
		acl := r.tree.get(parent).acl
		notify(r.children.trigger(parent, nodeChildrenChanged), nodeChildrenChanged, parent, acl, nil)
	}
	return out
}

// forget removes all watches of a connection.
func (r *replica) forget(c *conn) {
	r.data.removeAll(c)
	r.children.removeAll(c)
}

// move moves a connection's watches to another replica.
func (r *replica) move(c *conn, to *replica) {
	for _, pair := range [][2]*watchTable{{r.data, to.data}, {r.children, to.children}} {
		from, dest := pair[0], pair[1]
		for _, path := range slices.Sorted(maps.Keys(from.byConn[c])) {
			i := slices.IndexFunc(from.byPath[path], func(x watcher) bool { return x.conn == c })
			dest.add(path, c, from.byPath[path][i].mode)
		}
		from.removeAll(c)
	}
}

// commitLocked commits a transaction and returns the events of the up-to-date replica.
func (s *Server) commitLocked(t commit) []firing {
	for _, r := range s.lagging {
		r.backlog = append(r.backlog, t)
	}
	return s.main.take(t)
}

// nextZxidLocked numbers the next transaction.
func (s *Server) nextZxidLocked() int64 {
	s.zxid++
	return s.zxid
}
