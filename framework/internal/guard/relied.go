package guard

import (
	"sync"
	"time"
)

// A Relied is the nodes of the session that some work relies on. Its zero value has
// none.
type Relied struct {
	guard *Guard
	first reliedNode
	also  []reliedNode

	// Guarded by reliedNodes.mu.
	failed func(code int32)
	code   int32 // what was found of a node; 0 for nothing
	ended  bool  // nothing relies on them any more
}

// Add adds a node, before Rely.
func (r *Relied) Add(path string) {
	if n := (reliedNode{path: path, of: r}); r.first.of == nil {
		r.first = n
	} else {
		r.also = append(r.also, n)
	}
}

// nodes yields the nodes.
func (r *Relied) nodes(yield func(*reliedNode) bool) {
	more := r.first.of != nil && yield(&r.first)
	for i := 0; more && i < len(r.also); i++ {
		more = yield(&r.also[i])
	}
}

// Rely declares that work relies on nodes of the session, until End is called. It
// returns false if a quorum has to vouch for the session first. IsVouched reports
// whether a quorum has; if it has, round trips through the leader are missing.
func (g *Guard) Rely(r *Relied) bool {
	if !g.trust.rely(time.Now()) {
		return false
	}
	r.guard = g
	g.relied.add(r)
	if due, _ := g.trust.vouchIn(time.Now()); due < g.Timeout()/12 { // sooner than Supervise is called anyway
		g.events.Wake()
	}
	return true
}

// OnFailure sets the function that is called, once, with the error code, when a node
// does not exist or may not be read; at once if that was found before. It is called
// under a lock.
func (r *Relied) OnFailure(failed func(code int32)) {
	all := &r.guard.relied
	all.mu.Lock()
	defer all.mu.Unlock()
	if r.failed = failed; r.code != 0 {
		failed(r.code)
	}
}

// End ends what Rely has declared. It is idempotent.
func (r *Relied) End() {
	if r.guard.relied.remove(r) {
		r.guard.trust.leave(time.Now())
	}
}

// IsVouched reports whether a quorum has recently vouched for the session.
func (g *Guard) IsVouched() bool { return g.trust.isVouched(time.Now()) }

// IsRelied reports whether work relies on nodes of the session.
func (g *Guard) IsRelied() bool {
	_, relied := g.trust.vouchIn(time.Now())
	return relied
}

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
	for n := range r.nodes {
		t.append(n)
	}
}

// remove takes the nodes out. It returns false if that was done before.
func (t *reliedNodes) remove(r *Relied) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.ended {
		return false
	}
	r.ended = true
	for n := range r.nodes {
		t.unlink(n)
	}
	return true
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
	if n.of.ended { // the work has ended meanwhile
		return
	}
	t.unlink(n)
	if n.of.code != 0 {
		return
	}
	if n.of.code = code; n.of.failed != nil {
		n.of.failed(code)
	}
}
