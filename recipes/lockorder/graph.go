package lockorder

// A place is where an Acquire waits: for a lock, or, among the forks of its holder, for
// their claim on it. Forks wait for each other, and not for those who want the lock: so
// these are different places.
type place struct {
	path  string
	forks int // how many owners are above those who wait
}

// An edge says that one place was wanted by the owner of another one.
type edge struct {
	held, wanted             place
	heldRecipe, wantedRecipe string
	heldBy, wantedBy         Stack
	byGoroutine              bool
}

type ends struct{ held, wanted place }

// A graph has the edges of a process, each once, with the stacks of its first time. It
// is bounded: the oldest edges are forgotten.
type graph struct {
	limit int
	known map[ends]bool
	from  map[place][]*edge // the oldest first
	order []*edge           // the same
}

func newGraph(limit int) *graph {
	return &graph{limit: limit, known: map[ends]bool{}, from: map[place][]*edge{}}
}

// add adds an edge that is not known.
func (g *graph) add(e *edge) {
	if len(g.order) == g.limit {
		g.forget()
	}
	g.known[ends{e.held, e.wanted}] = true
	g.from[e.held] = append(g.from[e.held], e)
	g.order = append(g.order, e)
}

// forget forgets the oldest edge.
func (g *graph) forget() {
	oldest := g.order[0]
	g.order[0] = nil
	g.order = g.order[1:]
	delete(g.known, ends{oldest.held, oldest.wanted})
	rest := g.from[oldest.held]
	rest[0] = nil
	if rest = rest[1:]; len(rest) == 0 {
		delete(g.from, oldest.held)
		return
	}
	g.from[oldest.held] = rest
}

// path returns a shortest path between two places: nil if there is none, and no edges
// if they are the same.
func (g *graph) path(begin, end place) (edges []*edge, found bool) {
	by := map[place]*edge{begin: nil} // by which edge it was reached first
	for next := []place{begin}; len(next) > 0; next = next[1:] {
		if next[0] == end {
			for at := end; by[at] != nil; at = by[at].held {
				edges = append([]*edge{by[at]}, edges...)
			}
			return edges, true
		}
		for _, e := range g.from[next[0]] {
			if _, seen := by[e.wanted]; !seen {
				by[e.wanted] = e
				next = append(next, e.wanted)
			}
		}
	}
	return nil, false
}
