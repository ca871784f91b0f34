package histories

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// handOvers count the leases that were granted while the node of the holder before
// still stood.
type handOvers struct {
	All   int
	Under int // of these, the connection broke before the delete was answered
}

// handedOver is what is known of them.
type handedOver struct {
	mu          sync.Mutex
	counts      handOvers
	pending     map[string]int64 // the nodes of the holders before, and their sessions
	connections map[int64]int    // of each session, how many it had
	deleting    map[string]int   // nodes whose delete has arrived, and over which connection
	watched     map[string]bool  // nodes on which a client has set a watch

	answered map[string]time.Time // when creates were, by the path that they asked for
}

// onAnswer records when a create was answered; after one of unknown outcome that is not
// known.
func (h *handedOver) onAnswer(_ context.Context, r framework.Request) {
	if r.Op != "create" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answered == nil {
		h.answered = map[string]time.Time{}
	}
	if _, again := h.answered[r.Path]; again || r.Err != nil {
		h.answered[r.Path] = time.Time{}
		return
	}
	h.answered[r.Path] = time.Now()
}

// mayBeUnwatched tells whether a hold may not have a watch on its node yet.
func (h *handedOver) mayBeUnwatched(node string) bool {
	at, ok := h.answered[node[:len(node)-znode.SequenceDigits]]
	return !ok || at.IsZero() || time.Since(at) < hold.LookDelay
}

// onCall records a call and what happens to it.
func (h *handedOver) onCall(c zktest.Call, action zktest.Action) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pending == nil {
		h.pending, h.connections, h.deleting, h.watched = map[string]int64{}, map[int64]int{}, map[string]int{}, map[string]bool{}
	}
	switch {
	case c.Op == zktest.OpConnect && c.Phase == zktest.PhaseAfterApply:
		h.connections[c.Session]++
		for node, session := range h.pending {
			if session == c.Session {
				h.counts.Under++
				delete(h.pending, node)
			}
		}
	case c.Op == zktest.OpDelete && c.Client != operator && c.Phase == zktest.PhaseBeforeApply:
		if h.deleting[c.Path] == 0 {
			h.deleting[c.Path] = h.connections[c.Session]
		}
	case c.Op == zktest.OpDelete && c.Client != operator && c.Phase == zktest.PhaseAfterApply:
		if action != zktest.CutConnection && action != zktest.DropReply && action != zktest.Mute {
			delete(h.pending, c.Path)
		}
	case c.Watch && c.Phase == zktest.PhaseAfterApply:
		h.watched[c.Client+c.Path] = true
	}
}

// left records that it was released.
func (r *record) left(t *tenure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.released = true
}

// aheadLocked returns the contenders in the server's tree that are ahead of a node. The
// reader's node of a downgrade has the number of the writer's. It is no contender for
// that writer, nor for others until it was granted.
func (r *run) aheadLocked(node string) (own znode.Name, ahead []znode.Name) {
	parse := func(node string) znode.Name {
		name, _ := znode.Parse(node[strings.LastIndexByte(node, '/')+1:], r.subject.names...)
		return name
	}
	own = parse(node)
	for _, child := range r.server.Children(folder(node)) {
		name := parse(child)
		if name.Node == "" || !name.Before(own) || name.Sequence == own.Sequence {
			continue
		}
		granted, downgrade := false, false
		for _, t := range r.tenures {
			for _, s := range t.op.Slots {
				holder := parse(s.lease.Path())
				granted = granted || holder.Node == child
				downgrade = downgrade || name.Kind == znode.Reader && holder.Kind == znode.Writer && holder.Sequence == name.Sequence
			}
		}
		if granted || !downgrade {
			ahead = append(ahead, name)
		}
	}
	return own, ahead
}

func (r *run) ahead(node string) (own znode.Name, ahead []znode.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.aheadLocked(node)
}

// checkOrder checks at a grant that no contender is left ahead that had to be granted
// first. The node of a holder of the same session may still stand, if the holder has
// released while its lease was valid, and if its delete was sent over the present
// connection.
func (th *thread) checkOrder(s *slot) {
	own, ahead := th.ahead(s.lease.Path())
	if own.Node == "" {
		th.brokenf("I3: %s is not a contender's name", s.lease.Path())
		return
	}
	if !th.subject.blocked(th.scenario, ahead, own) {
		return
	}
	left := slices.DeleteFunc(slices.Clone(ahead), func(n znode.Name) bool { return th.isHandedOver(n, s) })
	if th.subject.blocked(th.scenario, left, own) {
		th.brokenf("I3: thread %d was granted %s although these are ahead of it: %v", th.number, own.Node, left)
		return
	}
	for _, name := range ahead {
		needed := append(slices.Clone(left), name) // else it may have been granted beside that one
		if !slices.Contains(left, name) && th.subject.blocked(th.scenario, needed, own) {
			th.handedOver.grant(th.run, s, name.Node)
		}
	}
}

// isHandedOver tells whether the slot of a node may be handed over to another.
func (th *thread) isHandedOver(name znode.Name, to *slot) bool {
	node := folder(to.lease.Path()) + "/" + name.Node
	info, ok := th.server.Node(node)
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, s := range th.slots[node] {
		if s.lease.Err() == nil || s.lost.Load() {
			return false
		}
	}
	known := len(th.slots[node]) > 0 || th.scenario.isBare() || th.scenario.resizesStripes() // else its holder may be a multi-lock that gave up
	return known && name.Kind != znode.Reader && (!ok || info.EphemeralOwner == to.session)
}

// grant records a hand-over.
func (h *handedOver) grant(r *run, to *slot, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	node := folder(to.lease.Path()) + "/" + name
	if at := h.deleting[node]; at > 0 && at < h.connections[to.session] {
		r.brokenf("I3: the slot of %s was handed over although its delete was sent over a connection that has broken", name)
	}
	h.counts.All++
	h.pending[node] = to.session
}

// checkEvicted checks a slot whose node an operator has deleted before the grant. It
// is excused, as the event for that may not have come. If the slot was handed over,
// there must be such an event, so the watch was set; or the hold will soon look. That
// of a multi-lock whose grants are not seen one by one may be looking already.
func (th *thread) checkEvicted(s *slot) {
	th.excuse(s)
	if th.subject.blocked == nil || s.ordered || th.scenario.isBare() {
		return
	}
	own, ahead := th.ahead(s.lease.Path())
	h := &th.handedOver
	h.mu.Lock()
	defer h.mu.Unlock()
	if th.subject.blocked(th.scenario, ahead, own) && !h.watched[th.station.name+s.lease.Path()] && !h.mayBeUnwatched(s.lease.Path()) {
		th.brokenf("I3: thread %d was handed over a slot while it had no watch on its node %s, which is deleted", th.number, own.Node)
	}
}

// operator is the client that deletes nodes of others.
const operator = "operator"

// operate deletes contenders for a time.
func (r *run) operate(tr Trouble) {
	c, err := framework.Connect(r.ctx, conformance.Config(r.server, operator))
	if err != nil {
		r.brokenf("I4: the operator could not connect: %v", err)
		return
	}
	defer func() { _ = c.Close() }()
	d := newDie(r.scenario.Seed, 0x6f70)
	r.operating.Store(true)
	defer r.operating.Store(false)
	ctx, cancel := context.WithTimeout(context.Background(), tr.For)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case <-r.listed:
		case <-time.After(d.upTo(30 * time.Millisecond)):
		}
		nodes := r.contenders()
		if len(nodes) == 0 || d.chance(40) {
			continue
		}
		at := len(nodes) - 1 // the one that was created last
		if d.chance(40) {
			at = d.IntN(len(nodes))
		}
		r.evict(nodes[at])
		_ = c.Delete(ctx, nodes[at], framework.AnyVersion)
	}
}

// onListing wakes the operator when a contender has listed the queue. It may delay the
// answer: then the contender learns of its place when the operator has deleted its node
// and the holder has released.
func (r *run) onListing(d die, c zktest.Call) zktest.Action {
	lists := c.Op == zktest.OpGetChildren2 || c.Op == zktest.OpMultiRead
	if !lists || !r.operating.Load() || c.Phase != zktest.PhaseAfterApply {
		return zktest.Pass
	}
	select {
	case r.listed <- struct{}{}:
	default:
	}
	if d.chance(50) {
		return zktest.Delay(d.upTo(10 * time.Millisecond))
	}
	return zktest.Pass
}
