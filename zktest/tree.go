package zktest

import (
	"hash/fnv"
	"slices"
	"sort"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// nodeKind is what ends a node's life.
type nodeKind int8

const (
	persistent nodeKind = iota // a delete
	ephemeral                  // the end of its session
	container                  // the end of its last child
	ttl                        // its time to live, while it has no children
)

// node is one znode. stat.Cversion counts the children ever created here, which gives
// the sequence numbers; clientStat computes what clients see.
type node struct {
	data     []byte
	acl      []jute.ACL
	stat     jute.Stat
	kind     nodeKind
	ttl      int64 // milliseconds, for kind ttl
	children map[string]struct{}
	listed   []string // children in the order that clients see, nil if it must be computed
}

// tree is the znodes of one replica, guarded by the server's mutex. Byte slices and
// ACLs in it are never changed in place, so copies of a tree share them.
type tree struct {
	nodes      map[string]*node
	ephemerals map[int64]map[string]struct{} // by session
	reapable   map[string]struct{}           // containers and nodes with a time to live
}

func newTree() *tree {
	t := &tree{nodes: map[string]*node{}, ephemerals: map[int64]map[string]struct{}{}, reapable: map[string]struct{}{}}
	open := []jute.ACL{{Perms: permAll, ID: anyone}}
	t.nodes[rootPath] = &node{acl: open, data: []byte{}, children: map[string]struct{}{"zookeeper": {}}}
	t.nodes[procPath] = &node{acl: open, data: []byte{}, children: map[string]struct{}{"quota": {}, "config": {}}}
	t.nodes[quotaPath] = &node{acl: open, data: []byte{}}
	t.nodes[configPath] = &node{acl: []jute.ACL{{Perms: permRead, ID: anyone}}, data: []byte{}}
	t.nodes[rootPath].stat.Cversion = 0
	t.nodes[configPath].stat.Aversion = -1
	return t
}

// get returns the node of a path, or nil. The empty path is the root, as in ZooKeeper.
func (t *tree) get(path string) *node {
	if path == "" {
		path = rootPath
	}
	return t.nodes[path]
}

// clientStat returns the Stat that clients see.
func (n *node) clientStat() jute.Stat {
	s := n.stat
	s.NumChildren = int32(len(n.children))
	// A client sees the number of creations and deletions of children. A child was
	// deleted if it was created and is not here any more.
	s.Cversion = n.stat.Cversion*2 - s.NumChildren
	s.DataLength = int32(len(n.data))
	return s
}

// list returns the children in a fixed order that looks random. A real server has the
// order of a hash table, so tests must find clients that forget to sort.
func (n *node) list() []string {
	if n.listed == nil && len(n.children) > 0 {
		type ranked struct {
			name string
			rank uint64
		}
		all := make([]ranked, 0, len(n.children))
		for name := range n.children {
			h := fnv.New64a()
			_, _ = h.Write([]byte(name))
			all = append(all, ranked{name, h.Sum64() * 0x9e3779b97f4a7c15})
		}
		slices.SortFunc(all, func(a, b ranked) int {
			if a.rank != b.rank {
				if a.rank < b.rank {
					return -1
				}
				return 1
			}
			return strings.Compare(a.name, b.name)
		})
		n.listed = make([]string, len(all))
		for i, r := range all {
			n.listed[i] = r.name
		}
	}
	return n.listed
}

// link puts a node into the tree and the indexes. Its parent must exist.
func (t *tree) link(path string, n *node) {
	parent, name, _ := splitPath(path)
	p := t.get(parent)
	if p.children == nil {
		p.children = map[string]struct{}{}
	}
	p.children[name] = struct{}{}
	p.listed = nil
	t.nodes[path] = n
	switch n.kind {
	case ephemeral:
		owned := t.ephemerals[n.stat.EphemeralOwner]
		if owned == nil {
			owned = map[string]struct{}{}
			t.ephemerals[n.stat.EphemeralOwner] = owned
		}
		owned[path] = struct{}{}
	case container, ttl:
		t.reapable[path] = struct{}{}
	}
}

// unlink removes a node from the tree and the indexes.
func (t *tree) unlink(path string) {
	parent, name, _ := splitPath(path)
	p, n := t.get(parent), t.nodes[path]
	delete(p.children, name)
	p.listed = nil
	delete(t.nodes, path)
	switch n.kind {
	case ephemeral:
		owned := t.ephemerals[n.stat.EphemeralOwner]
		delete(owned, path)
		if len(owned) == 0 {
			delete(t.ephemerals, n.stat.EphemeralOwner)
		}
	case container, ttl:
		delete(t.reapable, path)
	}
}

// owned returns the ephemeral nodes of a session, oldest first. A real server has no
// order here.
func (t *tree) owned(session int64) []string {
	paths := make([]string, 0, len(t.ephemerals[session]))
	for path := range t.ephemerals[session] {
		paths = append(paths, path)
	}
	sort.Slice(paths, func(i, j int) bool {
		a, b := t.nodes[paths[i]].stat.Czxid, t.nodes[paths[j]].stat.Czxid
		if a != b {
			return a < b
		}
		return paths[i] < paths[j]
	})
	return paths
}

// descendants counts the nodes below a path.
func (t *tree) descendants(path string) int32 {
	if path == rootPath {
		return int32(len(t.nodes) - 1)
	}
	count := int32(0)
	for p := range t.nodes {
		if strings.HasPrefix(p, path+"/") {
			count++
		}
	}
	return count
}

// clone returns an independent copy.
func (t *tree) clone() *tree {
	c := &tree{
		nodes:      make(map[string]*node, len(t.nodes)),
		ephemerals: make(map[int64]map[string]struct{}, len(t.ephemerals)),
		reapable:   make(map[string]struct{}, len(t.reapable)),
	}
	for path, n := range t.nodes {
		twin := *n
		twin.children = cloneSet(n.children)
		c.nodes[path] = &twin
	}
	for session, owned := range t.ephemerals {
		c.ephemerals[session] = cloneSet(owned)
	}
	for path := range t.reapable {
		c.reapable[path] = struct{}{}
	}
	return c
}

func cloneSet(set map[string]struct{}) map[string]struct{} {
	c := make(map[string]struct{}, len(set))
	for k := range set {
		c[k] = struct{}{}
	}
	return c
}
