package waitfor

import (
	"cmp"
	"slices"
)

// A Component is a set of contenders that are stuck, each of which waits for each other
// one, directly or not.
type Component struct {
	// Members are in the order of their ids.
	Members []*Contender
	// Cycle is a shortest cycle among them: each waits for the next one, and the last
	// one for the first, which waits in a queue. A holder waits for a waiter that owns
	// it. If there is a choice, nobody in it waits for what it owns itself.
	Cycle []*Contender
}

// Components returns the components of those that are stuck, after Reduce, without some
// contenders. They are in the order of their first members.
func Components(queues []*Queue, without func(*Contender) bool) []Component {
	s := search{without: without, number: map[*Contender]int{}, low: map[*Contender]int{}, open: map[*Contender]bool{}}
	for _, q := range queues {
		for _, c := range q.Contenders {
			if s.counts(c) && s.number[c] == 0 {
				s.visit(c)
			}
		}
	}
	slices.SortFunc(s.found, func(a, b Component) int { return cmp.Compare(a.Members[0].ID, b.Members[0].ID) })
	return s.found
}

// A search is Tarjan's, for strongly connected components.
type search struct {
	without     func(*Contender) bool
	number, low map[*Contender]int
	stack       []*Contender
	open        map[*Contender]bool // on the stack
	found       []Component
}

func (s *search) counts(c *Contender) bool { return c.stuck && !s.without(c) }

func (s *search) visit(c *Contender) {
	s.number[c] = len(s.number) + 1
	s.low[c] = s.number[c]
	s.stack, s.open[c] = append(s.stack, c), true
	for next := range c.waitsFor {
		switch {
		case !s.counts(next):
		case s.number[next] == 0:
			s.visit(next)
			s.low[c] = min(s.low[c], s.low[next])
		case s.open[next]:
			s.low[c] = min(s.low[c], s.number[next])
		}
	}
	if s.low[c] == s.number[c] {
		at := len(s.stack) - 1
		for s.stack[at] != c {
			at--
		}
		s.close(slices.Clone(s.stack[at:]))
		s.stack = s.stack[:at]
	}
}

// close ends a component. One alone is none: nobody waits for itself directly.
func (s *search) close(members []*Contender) {
	for _, c := range members {
		delete(s.open, c)
	}
	if len(members) > 1 {
		slices.SortFunc(members, func(a, b *Contender) int { return cmp.Compare(a.ID, b.ID) })
		s.found = append(s.found, Component{members, shortest(members)})
	}
}

// waitsFor yields those that must go before it can, as far as they are stuck. Waiters
// ahead of it are left out if all that they wait for is ahead of it as well: then a
// shorter cycle leads past them. That is so but for a Shared one, which does not wait
// for other Shared ones: a waiter between does.
func (c *Contender) waitsFor(yield func(*Contender) bool) {
	if !c.Waits {
		for _, owner := range c.owners {
			if owner.stuck && !yield(owner) {
				return
			}
		}
		return
	}
	for _, holder := range c.queue.holders {
		if holder.at > c.at {
			break
		}
		if (!c.Shared || !holder.Shared) && holder.Takes > 0 && !yield(holder) {
			return
		}
	}
	if c.Shared && c.behind != nil {
		yield(c.behind)
	}
}

// shortest returns a shortest cycle, the first one in the order of the ids. A waiter
// that needs some of many permits waits for those that it owns as well: that is a
// cycle, but says less than one with others.
func shortest(members []*Contender) []*Contender {
	inside := make(map[*Contender]bool, len(members))
	for _, c := range members {
		inside[c] = true
	}
	for _, own := range []bool{false, true} {
		var best []*Contender
		for _, from := range members {
			if !from.Waits {
				continue
			}
			if cycle := from.cycle(inside, own); cycle != nil && (best == nil || len(cycle) < len(best)) {
				best = cycle
			}
			if len(best) > 0 && len(best) <= 2 {
				break
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// cycle returns a shortest cycle through one contender, nil if there is none. own says
// whether a waiter may wait for what it owns itself.
func (c *Contender) cycle(inside map[*Contender]bool, own bool) []*Contender {
	from := map[*Contender]*Contender{}
	for queue := []*Contender{c}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for next := range at.waitsFor {
			if !inside[next] || !own && at.Waits && slices.Contains(at.Owns, next) {
				continue
			}
			if _, seen := from[next]; seen {
				continue
			}
			if from[next] = at; next == c {
				return backwards(from, c)
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// backwards returns the cycle that a search has found.
func backwards(from map[*Contender]*Contender, c *Contender) []*Contender {
	cycle := []*Contender{c}
	for at := from[c]; at != c; at = from[at] {
		cycle = append(cycle, at)
	}
	slices.Reverse(cycle[1:])
	return cycle
}
