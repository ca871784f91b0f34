package queuemodel

// holds reports whether a contender holds. A local one whose node an operator has
// deleted does not count, if it was granted justly: it will be notified.
func (m *model) holds(x int) bool {
	switch {
	case x == downgraded:
		return m.downgradedPhase == holding
	case x >= maxLocals:
		return m.foreignPhase[x-maxLocals] == holding
	case m.byOperator.has(x) && !m.standing.has(x) && !m.unjust.has(x):
		return false
	}
	return m.phase[x] == holding
}

// overlap says whether more hold than may.
func (m *model) overlap() (violation string) {
	n := 0
	for x := range maxNodes {
		if !m.holds(x) {
			continue
		}
		n++
		for y := range x {
			writer := x == downgraded && m.number[x] == m.number[y] // which holds both
			if m.permits == 1 && m.holds(y) && m.conflict(x, y) && !writer {
				return "two holders"
			}
		}
	}
	if m.permits > 1 && n > m.permits {
		return "too many holders"
	}
	return ""
}

// stuck looks at a state in which nothing happens by itself.
func (m *model) stuck() (violation string) {
	if !m.open {
		return ""
	}
	for w := range m.locals {
		stands := m.standing.has(w)
		switch phase := m.phase[w]; {
		case phase == creating:
			return "joins for ever"
		case phase == waiting && m.behind.has(w):
			if !m.isBehind(w) {
				return "stands behind nobody"
			}
		case phase == waiting && !stands:
			return "waits for ever without a node"
		case phase == waiting && m.free(w):
			return "waits for ever although it is free"
		case phase == holding && !stands:
			return "holds without a node, and is not notified"
		case (phase == left || phase == released) && stands:
			return "its node stays"
		}
	}
	return ""
}

// runsOn carries out what happens by itself, in one order, which must come to an end.
func (m *model) runsOn() (violation string) {
	n := *m
	for range 400 {
		by := n.byItself("")
		if by == nil {
			return n.stuck()
		}
		n.state = by.to
	}
	return "livelock"
}

// byItself returns a step that needs no decision of others, nil if there is none but
// some of one kind.
func (m *model) byItself(but string) *step {
	all := m.possible()
	for i := range all {
		if all[i].byItself && all[i].verb != but {
			return &all[i]
		}
	}
	return nil
}

// followed carries out a step, and what follows from it at once, in one order.
func (m *model) followed(text string) state {
	n := *m
	for _, s := range m.possible() {
		if s.String() == text {
			n.state = s.to
			for by := n.byItself(growsOld); by != nil; by = n.byItself(growsOld) {
				n.state = by.to
			}
			return n.state
		}
	}
	panic("there is no step " + text)
}
