package guard

import (
	"container/list"
	"sync"
	"time"
)

// Rely declares that work relies on nodes of the session, until end is called, once. ok
// is false if a quorum has to vouch for the session first. IsVouched reports whether a
// quorum has; if it has, round trips through the leader are missing. failed is called
// under a lock when a node does not exist (zk.ErrNoNode) or may not be read
// (zk.ErrNoAuth).
func (g *Guard) Rely(nodes []string, failed func(error)) (end func(), ok bool) {
	if !g.trust.rely(time.Now()) {
		return nil, false
	}
	entries := g.relied.add(nodes, failed)
	if due, _ := g.trust.vouchIn(time.Now()); due < g.Timeout()/12 { // sooner than Supervise is called anyway
		g.events.Wake()
	}
	return func() {
		g.relied.remove(entries)
		g.trust.leave(time.Now())
	}, true
}

// IsVouched reports whether a quorum has recently vouched for the session.
func (g *Guard) IsVouched() bool { return g.trust.isVouched(time.Now()) }

// reliedNodes are all nodes of a session that work relies on, ordered by the time of
// the last check, oldest first.
type reliedNodes struct {
	mu    sync.Mutex
	nodes list.List // of *reliedNode
}

type reliedNode struct {
	path   string
	failed func(error) // nil once nothing relies on it
	entry  *list.Element
}

func (t *reliedNodes) add(paths []string, failed func(error)) (nodes []*reliedNode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range paths {
		n := &reliedNode{path: path, failed: failed}
		n.entry = t.nodes.PushBack(n)
		nodes = append(nodes, n)
	}
	return nodes
}

func (t *reliedNodes) remove(nodes []*reliedNode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range nodes {
		t.nodes.Remove(n.entry)
		n.failed = nil
	}
}

// next returns the nodes to check next: at most many, whose checks take at most so many
// bytes, but at least one if there are any.
func (t *reliedNodes) next(many, bytes int) []*reliedNode {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next []*reliedNode
	for range min(many, t.nodes.Len()) {
		n := t.nodes.Front().Value.(*reliedNode)
		if bytes -= checkBytes(n.path); bytes < 0 && len(next) > 0 {
			break
		}
		t.nodes.MoveToBack(n.entry)
		next = append(next, n)
	}
	return next
}

// fail notifies the work that relies on a node that it no longer can.
func (t *reliedNodes) fail(n *reliedNode, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n.failed != nil { // else the work has ended meanwhile
		t.nodes.Remove(n.entry)
		n.failed(err)
	}
}
