package guard

import (
	"sync"
	"time"
)

// A Relied is the nodes of the session that some work relies on. Its zero value has
// none.
type Relied struct {
	guard  *Guard
	nodes  []reliedNode
	one    [1]reliedNode
	failed func(code int32)
	ended  bool // nothing relies on them any more; reliedNodes.mu guards it
}

// Add adds a node, before Rely.
func (r *Relied) Add(path string) {
	if r.nodes == nil {
		r.nodes = r.one[:0]
	}
	r.nodes = append(r.nodes, reliedNode{path: path, of: r})
}

// Rely declares that work relies on nodes of the session, until End is called, once. It
// returns false if a quorum has to vouch for the session first. IsVouched reports
// whether a quorum has; if it has, round trips through the leader are missing. failed
// is called under a lock, with the error code, when a node does not exist or may not be
// read.
func (g *Guard) Rely(r *Relied, failed func(code int32)) bool {
	if !g.trust.rely(time.Now()) {
		return false
	}
	r.guard, r.failed = g, failed
	g.relied.add(r)
	if due, _ := g.trust.vouchIn(time.Now()); due < g.Timeout()/12 { // sooner than Supervise is called anyway
		g.events.Wake()
	}
	return true
}

// End ends what Rely has declared.
func (r *Relied) End() {
	r.guard.relied.remove(r)
	r.guard.trust.leave(time.Now())
}

// IsVouched reports whether a quorum has recently vouched for the session.
func (g *Guard) IsVouched() bool { return g.trust.isVouched(time.Now()) }

// reliedNodes are all nodes of a session that work relies on, ordered by the time of
// the last check, oldest first.
type reliedNodes struct {
	mu          sync.Mutex
	first, last *reliedNode
}

type reliedNode struct {
	path       string
	of         *Relied
	next, prev *reliedNode
	listed     bool
}

func (t *reliedNodes) add(r *Relied) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range r.nodes {
		t.append(&r.nodes[i])
	}
}

func (t *reliedNodes) remove(r *Relied) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range r.nodes {
		t.unlink(&r.nodes[i])
	}
	r.ended = true
}

// append appends a node that is not in the list. The caller has the lock.
func (t *reliedNodes) append(n *reliedNode) {
	n.prev, n.next, n.listed = t.last, nil, true
	if t.last = n; n.prev == nil {
		t.first = n
	} else {
		n.prev.next = n
	}
}

// unlink takes a node out, if it is in the list. The caller has the lock.
func (t *reliedNodes) unlink(n *reliedNode) {
	if !n.listed {
		return
	}
	n.listed = false
	if n.prev == nil {
		t.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		t.last = n.prev
	} else {
		n.next.prev = n.prev
	}
}

// next returns the nodes to check next: at most many, whose checks take at most so many
// bytes, but at least one if there are any.
func (t *reliedNodes) next(many, bytes int) []*reliedNode {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next []*reliedNode
	for n := t.first; n != nil && len(next) < many; n = n.next {
		if bytes -= checkBytes(n.path); bytes < 0 && len(next) > 0 {
			break
		}
		next = append(next, n)
	}
	for _, n := range next {
		t.unlink(n)
		t.append(n)
	}
	return next
}

// fail notifies the work that relies on a node that it no longer can.
func (t *reliedNodes) fail(n *reliedNode, code int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !n.of.ended { // else the work has ended meanwhile
		t.unlink(n)
		n.of.failed(code)
	}
}
