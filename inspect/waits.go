package inspect

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/waitfor"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A node is a contender of a graph.
type node struct {
	Contender
	place *place
	in    *waitfor.Contender
}

// holds reports whether it does; if not, it waits.
func (n *node) holds() bool { return n.State == Held }

// A graph says who waits for whom in a look.
type graph struct {
	client   *framework.Client
	possible bool    // of all that may be true, not only of what is certain
	nodes    []*node // in order; the index is the ID
	queues   []*waitfor.Queue

	byPath    map[string][]*node // holders by the full path of a node, with those of one grant
	bySession map[int64][]*node  // holders, in the order of their grants
	byProcess map[process][]*node
}

// A process is one of a host.
type process struct {
	host string
	pid  int
}

func processOf(c Contender) process { return process{c.Holder.Host, c.Holder.PID} }

// newGraph returns the graph of a look.
func newGraph(client *framework.Client, l look, possible bool) *graph {
	g := &graph{
		client: client, possible: possible, byPath: map[string][]*node{}, bySession: map[int64][]*node{}, byProcess: map[process][]*node{},
	}
	for i := range l {
		g.addQueue(&l[i])
	}
	g.addHolders()
	for _, n := range g.nodes {
		if !n.in.Waits {
			continue
		}
		owns := g.certainly(n)
		if possible && len(n.Holds) == 0 && len(n.Within) == 0 {
			owns = g.possibly(n)
		}
		for _, held := range owns {
			n.in.Owns = append(n.in.Owns, held.in)
		}
	}
	waitfor.Reduce(g.queues)
	return g
}

func (g *graph) addQueue(p *place) {
	q := &waitfor.Queue{Size: 1}
	if p.recipe == Semaphore {
		q.Size = p.size
	}
	for _, c := range p.queue.Contenders {
		n := &node{Contender: c, place: p}
		n.in = &waitfor.Contender{ID: len(g.nodes), Waits: !n.holds(), Takes: 1, Needs: 1}
		switch {
		case p.recipe != Semaphore:
			n.in.Shared = c.Kind == lease.KindReader
		case p.single:
			name, _ := znode.Parse(c.Node, znode.Permits)
			n.in.Takes, n.in.Needs = int64(name.Weight), int64(name.Weight)
		case n.in.Waits: // only the head of the queue takes permits; how many is not known
			n.in.Takes = p.size
		}
		g.nodes = append(g.nodes, n)
		if g.possible || !n.mayHold() && !n.mayLeave() {
			q.Contenders = append(q.Contenders, n.in)
		}
	}
	g.queues = append(g.queues, q)
}

// mayHold reports whether one that waits by the size of a single queue may hold all the
// same, because that was greater before.
func (n *node) mayHold() bool {
	return !n.holds() && n.place.single && int64(n.Token) < n.place.sizeAt
}

// mayLeave reports whether one that waits may leave the queue without being granted
// anything. Those behind it are not stuck because of it: a reader behind a
// writer, who waits for readers, or one who needs fewer permits.
func (n *node) mayLeave() bool { return !n.holds() && n.GivesUp }

// A grant is that of several permits: one transaction has made their nodes.
type grant struct {
	place   *place
	session int64
	token   lease.Token
}

// addHolders makes the tables of holders.
func (g *graph) addHolders() {
	grants := map[grant][]*node{}
	for _, n := range g.nodes {
		if !n.holds() {
			continue
		}
		of := grant{n.place, n.Session, n.Token}
		grants[of] = append(grants[of], n)
		g.bySession[n.Session] = append(g.bySession[n.Session], n)
		if by := processOf(n.Contender); by.host != "" && by.pid != 0 {
			g.byProcess[by] = append(g.byProcess[by], n)
		}
	}
	for _, lists := range []iter.Seq[[]*node]{maps.Values(g.bySession), maps.Values(g.byProcess)} {
		for list := range lists {
			slices.SortStableFunc(list, func(a, b *node) int { return cmp.Compare(a.Token, b.Token) })
		}
	}
	for _, n := range g.nodes {
		if !n.holds() {
			continue
		}
		together := []*node{n}
		if n.place.recipe == Semaphore && !n.place.single {
			together = grants[grant{n.place, n.Session, n.Token}]
		}
		g.byPath[g.client.FullPath(n.Path)] = together
	}
}

// certainly returns what a waiter says that it holds.
func (g *graph) certainly(n *node) (owns []*node) {
	for _, path := range n.Holds {
		owns = append(owns, g.byPath[path]...)
	}
	for _, session := range n.Within {
		for _, held := range g.bySession[session] {
			if held.isOlder(n) {
				owns = append(owns, held)
			}
		}
	}
	return unique(owns)
}

// maxPossible is how many holders of a session, and of a process, a waiter may own at
// most: what the busiest ones hold and wait for must not be multiplied.
const maxPossible = 64

// possibly returns what the process of a waiter holds elsewhere: of very many that was
// granted last before the wait.
func (g *graph) possibly(n *node) (owns []*node) {
	for _, all := range [][]*node{g.bySession[n.Session], g.byProcess[processOf(n.Contender)]} {
		older := sort.Search(len(all), func(i int) bool { return !all[i].isOlder(n) })
		for i := older - 1; i >= max(0, older-maxPossible); i-- {
			if held := all[i]; held.place != n.place && held.isOlder(n) {
				owns = append(owns, held)
			}
		}
	}
	return unique(owns)
}

// isOlder reports whether it joined its queue before another one joined its own: who
// waits holds what it was granted before.
func (n *node) isOlder(other *node) bool {
	if n.Token != 0 && other.Token != 0 {
		return n.Token < other.Token
	}
	return !n.Enqueued.After(other.Enqueued)
}

func unique(nodes []*node) []*node {
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.in.ID, b.in.ID) })
	return slices.Compact(nodes)
}

// stuckIn returns the places of a look where one is stuck, or may be.
func stuckIn(client *framework.Client, l look) (again look) {
	g := newGraph(client, l, true)
	for i, q := range g.queues {
		if slices.ContainsFunc(q.Contenders, (*waitfor.Contender).Stuck) {
			again = append(again, l[i])
		}
	}
	return again
}

// cyclesIn returns the cycles of a look: those that are certain, and of the others
// those of which none is part of one that is certain.
func cyclesIn(client *framework.Client, l look) []Cycle {
	var certain, possible []Cycle
	part := map[int]bool{}
	g := newGraph(client, l, false)
	for _, c := range waitfor.Components(g.queues, func(*waitfor.Contender) bool { return false }) {
		for _, member := range c.Members {
			part[member.ID] = true
		}
		certain = append(certain, g.cycle(c))
	}
	g = newGraph(client, l, true)
	for _, c := range waitfor.Components(g.queues, func(c *waitfor.Contender) bool { return part[c.ID] }) {
		possible = append(possible, g.cycle(c))
	}
	for _, found := range [][]Cycle{certain, possible} {
		slices.SortStableFunc(found, func(a, b Cycle) int { return a.Since.Compare(b.Since) })
	}
	return append(certain, possible...)
}

// cycle describes that of a component.
func (g *graph) cycle(of waitfor.Component) Cycle {
	c := Cycle{Certain: !g.possible}
	before := g.nodes[of.Cycle[len(of.Cycle)-1].ID]
	for _, in := range of.Cycle {
		n := g.nodes[in.ID]
		if !n.holds() {
			held := before
			if !held.holds() { // it waits for this one, which waits ahead of it
				held = n
			}
			c.Links = append(c.Links, Link{Holds: held.place.path, Held: held.Contender, WaitsFor: n.place.path, Waiting: n.Contender})
			if n.Enqueued.After(c.Since) {
				c.Since = n.Enqueued
			}
		}
		before = n
	}
	first := slices.IndexFunc(c.Links, func(l Link) bool { return l.Held.State == Held })
	c.Links = slices.Concat(c.Links[first:], c.Links[:first])
	return c
}
