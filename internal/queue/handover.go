package queue

import (
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A hand-over in memory admits the next position of a queue before the node of the last
// holder is known to be deleted, if both are of one session. A node P is over when its
// lease, which was valid until then, was released, and its delete has its place among
// the requests of a connection. A position W then counts P as deleted, if nothing else
// keeps it out, and if L, its listing, the watch on W, which is set and has not fired,
// and the delete of P belong to one connection that has not broken. If W was made less
// than hold.LookDelay ago, it needs no watch: its hold looks at W when that has passed.
//
// Why that is right:
//
//   - As long as P is not deleted nobody else gets past W: it stands behind P, and
//     ahead of all that wait. If P is never deleted, then both nodes end with the
//     session, and so does what relies on W.
//   - Whatever the session sends from then on is carried out behind the delete, over
//     the next connection, too: see kit.Release. So the next holder sees all that
//     holders did before it, and no later request of an earlier holder that checks its
//     node has an effect. (A server that refuses just the delete is the exception.)
//   - Somebody else may just have deleted W. The event for that comes before the answer
//     to the delete of P, or when watches are set again on the next connection. Two
//     leases can be valid until then, as when the node of a holder is deleted. Without
//     a watch the look of the hold finds it: W is no more exposed than the node of a
//     lock that was free.
//   - No reader's node stands beside P, as it may beside that of a writer: a downgrade
//     has the hold keep its slot until the deletion is known.
//
// Permits are not handed over: their number may have been changed by a client that has
// had its answer, while the event for that is on its way. It comes before the answer to
// the delete.
//
// P is not gone: nothing but the decision of a position looks at what is over. A lease
// that was lost, and a position that is given up, are never over.

// A slotOver is the node of a lease that was released.
type slotOver struct {
	name znode.Name
	on   <-chan struct{} // of the connection over which the delete was sent; nil until then
}

// Waits learns that a child of the queue is released, and reports whether a position
// may be the next one.
func (v *view) Waits(child string) bool {
	v.mu.Lock()
	defer v.unlock()
	if v.closed || v.confirms {
		return false
	}
	v.isOver(child, nil)
	return true
}

// Over learns that the delete of a child that was released has its place on the
// connection that broken belongs to. nil says that the server has refused the delete.
func (v *view) Over(child string, broken <-chan struct{}) {
	v.mu.Lock()
	defer v.unlock()
	switch {
	case broken == nil:
		v.confirms = true
		delete(v.over, child)
		return
	case v.closed:
		return
	}
	v.isOver(child, broken)
	if n := v.nodes[child]; n != nil {
		for _, p := range n.waiters {
			p.notify()
		}
	}
}

func (v *view) isOver(child string, on <-chan struct{}) {
	name, ok := znode.Parse(child, v.kinds...)
	if !ok {
		return
	}
	if v.over == nil {
		v.over = map[string]slotOver{}
	}
	v.over[child] = slotOver{name, on}
}

// isNext reports whether the position, which some ahead of it keep out, would be
// admitted without those that are over. at is its index. The caller has the lock of the
// view.
func (p *Position) isNext(at int, policy Policy) bool {
	v := p.view
	if len(v.over) == 0 || p.queue.HandsOver == nil {
		return false
	}
	return len(policy(p.self, v.aheadNotOver(at))) == 0
}

// aheadNotOver is ahead without those that are over. The caller has the lock.
func (v *view) aheadNotOver(at int) Ahead {
	ahead := v.ahead(at)
	ahead.over, ahead.on = v.over, v.broken
	return ahead
}

// takeOver reports whether a position that is next is admitted: no listing has to
// follow a deletion, and the watch on its own node is set and has not fired, or its
// hold will soon set one. The caller has the lock of the view.
func (p *Position) takeOver() bool {
	if p.recheckDue() {
		return false
	}
	p.unconfirmed = p.view.broken
	if p.isYoung() {
		return true
	}
	p.watchOwn(true)
	return p.node.watch == watched
}

// isYoung reports whether the node was made so lately that it is not watched yet.
func (p *Position) isYoung() bool { return time.Since(p.made) < hold.LookDelay }

// rests reports whether the position, which waits for these, reads nothing yet. It is
// young, and waits only for others of its session that hand their slot over: as a rule
// it is granted, and released, before it has to read anything. It is woken when it is
// young no more. The caller has the lock of the view.
func (p *Position) rests(wait []znode.Name) bool {
	needsWatch := func(name znode.Name) bool { return !p.isLocal(name) || !p.queue.HandsOver(name) }
	if p.queue.HandsOver == nil || !p.isYoung() || slices.ContainsFunc(wait, needsWatch) {
		return false
	}
	nodes := make([]*node, 0, len(wait))
	for _, name := range wait {
		nodes = append(nodes, p.view.node(name))
	}
	p.waitAt(nodes, false)
	if p.rest == nil {
		p.rest = time.AfterFunc(time.Until(p.made.Add(hold.LookDelay)), p.notify)
	}
	return true
}

// HandsOver reports whether the slot of the node may be handed over within the session.
func (p *Position) HandsOver() bool {
	return p.queue.HandsOver != nil && p.queue.HandsOver(p.self)
}
