package queuemodel

// The steps of lookahead.go.

// waitFor has a position wait, and reads or lists what it does not know of the others.
func (m *model) waitFor(w int, ahead, wait nodeSet) {
	fresh := !m.basis.has(w)
	m.basis.add(w)
	next := m.next(w, ahead, wait)
	switch {
	case fresh:
	case wait&^m.reads() != 0:
		if m.recheckDue(w) || !m.readUnknown(w, ahead) {
			m.want(w, true)
			return
		}
	case next&^m.reads() != 0 && !m.readUnknown(w, ahead):
		next = 0
	}
	m.waitAt(w, wait|next, true)
}

// waitAt has a position wait for these nodes only.
func (m *model) waitAt(w int, nodes nodeSet, reads bool) {
	before := m.waits[w]
	m.waits[w] = nodes
	for x := range maxNodes {
		switch {
		case nodes.has(x) && reads:
			m.read(x)
		case !nodes.has(x) && before.has(x):
			m.dropUnused(x)
		}
	}
}

// readUnknown reads those ahead that keep the position out and may be deleted, unless
// they are too many.
func (m *model) readUnknown(w int, ahead nodeSet) bool {
	var unknown nodeSet
	for wait := m.policy(w, ahead); wait != 0; wait = m.policy(w, ahead) {
		unknown |= wait &^ m.reads()
		ahead = m.aheadOf(m.first(wait), ahead)
	}
	if m.noReads && unknown != 0 {
		return false
	}
	for x := range maxNodes {
		if unknown.has(x) {
			m.read(x)
		}
	}
	return true
}

// next returns the contender behind which the one is that the position waits for.
func (m *model) next(w int, ahead, wait nodeSet) nodeSet {
	nearest := m.nearest(ahead)
	if !m.keeps(lookAhead) || wait != only(nearest) || m.isLocal(nearest) || m.kinds[nearest] == 'W' && m.mustRecheck(w) {
		return 0
	}
	ahead = m.aheadOf(nearest, ahead)
	next := m.policy(w, ahead)
	if next == 0 || next != only(m.nearest(ahead)) || m.isLocal(m.nearest(ahead)) {
		return 0
	}
	return next
}

// aheadOf returns those of some nodes that are ahead of one of them.
func (m *model) aheadOf(x int, nodes nodeSet) (ahead nodeSet) {
	for y := range maxNodes {
		if nodes.has(y) && m.inOrder(y, x) {
			ahead.add(y)
		}
	}
	return ahead
}

// isLocal reports whether a node is that of a position that waits or has waited.
func (m *model) isLocal(x int) bool {
	return x < maxLocals && m.phase[x] == waiting || (m.granted | m.heir).has(x)
}
