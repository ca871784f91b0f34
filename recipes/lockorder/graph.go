package lockorder

// An edge says that one lock was wanted by the holder of another one.
type edge struct {
	held, wanted             string // full paths
	heldRecipe, wantedRecipe string
	heldBy, wantedBy         stack
	byGoroutine              bool
}

// A graph has the edges of a process, each once, with the stacks of its first time. It
// is bounded: the oldest edges are forgotten.
type graph struct {
	limit int
	from  map[string][]*edge // by the lock held, the oldest first
	order []*edge            // all, the oldest first
}

// knows reports whether there is an edge between two locks.
func (g *graph) knows(held, wanted string) bool {
	for _, e := range g.from[held] {
		if e.wanted == wanted {
			return true
		}
	}
	return false
}

// add adds an edge that is not known.
func (g *graph) add(e *edge) {
	if len(g.order) == g.limit {
		oldest := g.order[0]
		g.order = g.order[1:]
		if g.from[oldest.held] = g.from[oldest.held][1:]; len(g.from[oldest.held]) == 0 {
			delete(g.from, oldest.held)
		}
	}
	g.from[e.held] = append(g.from[e.held], e)
	g.order = append(g.order, e)
}

// path returns a shortest path between two locks: nil if there is none, and no edges if
// they are the same.
func (g *graph) path(begin, end string) (edges []*edge, found bool) {
	by := map[string]*edge{begin: nil} // by which edge it was reached first
	for next := []string{begin}; len(next) > 0; next = next[1:] {
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
