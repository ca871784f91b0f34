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
	// it. If there is a choice, nobody in it waits for what it owns itself. Of very
	// many it is one of the shortest through the first ones.
	Cycle []*Contender
}

// A mark is what a search has found out about a contender.
type mark struct {
	number, low int  // 0: not visited
	open        bool // on the stack
	component   int  // from 1 on, if it is part of one
	searched    int  // the last search for a cycle that came by
	from        *Contender
}

// Components returns the components of those that are stuck, after Reduce, without some
// contenders. They are in the order of their first members.
func Components(queues []*Queue, without func(*Contender) bool) []Component {
	s := search{without: without}
	for _, q := range queues {
		for _, c := range q.Contenders {
			c.mark = mark{}
		}
	}
	for _, q := range queues {
		for _, c := range q.Contenders {
			if s.counts(c) && c.number == 0 {
				s.visit(c)
			}
		}
	}
	slices.SortFunc(s.found, func(a, b Component) int { return cmp.Compare(a.Members[0].ID, b.Members[0].ID) })
	return s.found
}

// A search is Tarjan's, for strongly connected components.
type search struct {
	without func(*Contender) bool
	numbers int
	stack   []*Contender
	found   []Component
}

func (s *search) counts(c *Contender) bool { return c.stuck && !s.without(c) }

func (s *search) visit(c *Contender) {
	s.numbers++
	c.number, c.low, c.open = s.numbers, s.numbers, true
	s.stack = append(s.stack, c)
	for next := range c.waitsFor {
		switch {
		case !s.counts(next):
		case next.number == 0:
			s.visit(next)
			c.low = min(c.low, next.low)
		case next.open:
			c.low = min(c.low, next.number)
		}
	}
	if c.low == c.number {
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
		c.open = false
	}
	if len(members) < 2 {
		return
	}
	slices.SortFunc(members, func(a, b *Contender) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range members {
		c.component = len(s.found) + 1
	}
	cycle, _ := shortest(members)
	s.found = append(s.found, Component{members, cycle})
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

// maxSearches bounds how many searches in a row find no shorter cycle: each may look at
// all who wait for each other, which is a square of their number for permits.
const maxSearches = 64

// shortest returns a shortest cycle, the first one in the order of the ids. A waiter
// that needs some of many permits waits for those that it owns as well: that is a
// cycle, but says less than one with others. It also returns how many searches it took.
func shortest(members []*Contender) (best []*Contender, searches int) {
	for _, own := range []bool{false, true} {
		inVain := 0
		for _, from := range members {
			if !from.Waits || len(best) == 2 || inVain == maxSearches {
				continue
			}
			searches++
			inVain++
			if cycle := from.cycle(searches, own); cycle != nil && (best == nil || len(cycle) < len(best)) {
				best, inVain = cycle, 0
			}
		}
		if best != nil {
			break
		}
	}
	return best, searches
}

// cycle returns a shortest cycle through one contender, nil if there is none. own says
// whether a waiter may wait for what it owns itself.
func (c *Contender) cycle(search int, own bool) []*Contender {
	for queue := []*Contender{c}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for next := range at.waitsFor {
			if next.component != c.component || next.searched == search || !own && at.Waits && slices.Contains(at.Owns, next) {
				continue
			}
			if next.searched, next.from = search, at; next == c {
				return c.backwards()
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// backwards returns the cycle that a search has found.
func (c *Contender) backwards() []*Contender {
	cycle := []*Contender{c}
	for at := c.from; at != c; at = at.from {
		cycle = append(cycle, at)
	}
	slices.Reverse(cycle[1:])
	return cycle
}
