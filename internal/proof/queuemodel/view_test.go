package queuemodel

// The steps of view.go and views.go.

// used reports whether a position uses the view.
func (m *model) used() bool {
	for _, phase := range m.phase[:m.locals] {
		if phase == creating || phase == waiting {
			return true
		}
	}
	return false
}

// closeUnused closes the view if no position uses it. A listing that is under way ends
// with its answer.
func (m *model) closeUnused() {
	if m.used() {
		return
	}
	m.listed, m.names, m.gone, m.rechecks = unlisted, 0, 0, 0
	m.reduced, m.voided, m.listedAnswered, m.basis = false, false, 0, 0
	for x := range maxNodes {
		m.dropUnused(x)
	}
}

// learn is called when a node is known to be deleted.
func (m *model) learn(x int) {
	m.forget(x)
	if !m.used() || m.keeps(learnOnce) && m.knowsOf(x) {
		return
	}
	if x >= maxLocals && m.recurring && m.keeps(voidNameless) {
		m.voided = true
		m.voidedNext = m.voidedNext || m.begun()
		return
	}
	again := m.kinds[x] == 'W' && (!(m.toHand | m.over | m.unconfirmed).has(x) || !m.keeps(noReaderBeside))
	if m.listing != noListing || !m.keeps(factsSince) {
		m.facts.add(x)
		m.factsAgain.put(x, again)
	}
	m.remove(x, again)
}

// knowsOf reports whether that was known already.
func (m *model) knowsOf(x int) bool {
	if m.names.has(x) {
		return m.gone.has(x)
	}
	return m.listing == noListing
}

// begun reports whether the moment of the listing under way has come.
func (m *model) begun() bool {
	return m.listing >= listDue || m.listing != noListing && !m.keeps(momentOfSending)
}

// remove takes a name out of the listing. Those that are gone leave it when they are at
// the front.
func (m *model) remove(x int, again bool) {
	if !m.names.has(x) {
		return
	}
	m.reduced = m.keeps(ifReduced)
	if again {
		m.rechecks.add(x)
	}
	m.gone.add(x)
	for first := m.first(m.names); m.gone.has(first); first = m.first(m.names) {
		m.names.drop(first)
		m.gone.drop(first)
		if m.names == 0 {
			return
		}
	}
}

// forget removes the entry of a node that is deleted, and wakes all that it concerns. A
// read that is under way is of no use.
func (m *model) forget(x int) {
	m.queued.drop(x)
	m.setting.drop(x)
	m.fired.drop(x)
	m.watched.drop(x)
	m.toRead[x], m.lateRead[x], m.lateNoNode[x] = 0, 0, 0
	for i := range m.requests[:m.requested] {
		r := &m.requests[i]
		r.dead = r.dead || r.kind == get && int(r.node) == x
	}
	for i := range m.inbox[:m.received] {
		r := &m.inbox[i]
		r.dead = r.dead || r.kind == get && int(r.node) == x
	}
	if m.heir.has(x) {
		m.heir.drop(x)
		m.dead.put(x, m.fresh.has(x))
	}
	if m.owned.has(x) {
		m.owned.drop(x)
		m.evicted.put(x, m.keeps(eventEvicts))
		m.woken.add(x)
	}
	for w := range m.locals {
		if m.waits[w].has(x) {
			m.waits[w].drop(x)
			if m.keeps(deletionWakes) {
				m.woken.add(w)
			}
		}
	}
}

// ahead returns the contenders before a position that are not known to be deleted.
func (m *model) ahead(w int) (nodes nodeSet) {
	for x := range maxNodes {
		if x != w && m.names.has(x) && !m.gone.has(x) && m.before(x, w) {
			nodes.add(x)
		}
	}
	return nodes
}

// inOrder reports whether one node is before another one in the queue: D is before F0,
// whose number it has.
func (m *model) inOrder(x, y int) bool {
	return m.before(x, y) || x == downgraded && y != x && !m.before(y, x)
}

// first returns the first of some nodes in the order of the queue.
func (m *model) first(nodes nodeSet) int {
	first := -1
	for x := range maxNodes {
		if nodes.has(x) && (first < 0 || m.inOrder(x, first)) {
			first = x
		}
	}
	return first
}

// nearest returns the last.
func (m *model) nearest(nodes nodeSet) int {
	nearest := -1
	for x := range maxNodes {
		if nodes.has(x) && (nearest < 0 || m.inOrder(nearest, x)) {
			nearest = x
		}
	}
	return nearest
}
