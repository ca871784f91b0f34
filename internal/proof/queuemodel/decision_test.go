package queuemodel

// The steps of admission.go.

// decide is one decision of a position.
func (m *model) decide(w int) (violation string) {
	m.woken.drop(w)
	switch {
	case m.evicted.has(w):
		return m.evict(w)
	case m.failed.has(w):
		m.giveUp(w)
		return ""
	case m.listed != counts || m.voided:
		m.want(w, !m.voidedNext)
		return ""
	case m.keeps(showsOwn) && (!m.names.has(w) || m.gone.has(w)):
		if m.shown(w) && (m.listedAnswered.has(w) || !m.keeps(evictAfterAnswer)) {
			return m.evict(w)
		}
		m.want(w, m.sentBefore.has(w)) // it may have overtaken the create, or shows too few
		return ""
	}
	ahead := m.ahead(w)
	wait := m.policy(w, ahead)
	m.admissible.put(w, wait == 0 || m.isNext(w, ahead))
	if wait == 0 {
		return m.admit(w)
	}
	if m.isNext(w, ahead) && !m.recheckDue(w) && m.takesOver(w) {
		return m.handOver(w)
	}
	if m.rests(w, wait) {
		return ""
	}
	if m.keeps(watchOwnEarly) {
		m.watchOwn(w)
	}
	m.waitFor(w, ahead, wait)
	return ""
}

// admit grants to a position that has nothing to wait for, if it is certain that its
// node stood when the last one ahead went.
func (m *model) admit(w int) (violation string) {
	if m.recheckDue(w) {
		m.want(w, true)
		return ""
	}
	if !m.reduced && !m.stoodBehind.has(w) || !m.keeps(ownWatch) {
		return m.grant(w)
	}
	m.watchOwn(w)
	if m.watched.has(w) || !m.keeps(settledWatch) {
		return m.grant(w)
	}
	return ""
}

func (m *model) watchOwn(w int) {
	m.owned.add(w)
	m.read(w)
}

// recheckDue reports whether a position is behind one of these deletions, and has to
// list after it.
func (m *model) recheckDue(w int) bool {
	for x := range maxNodes {
		if m.rechecks.has(x) && m.before(x, w) && m.mustRecheck(w) {
			return true
		}
	}
	return false
}

func (m *model) mustRecheck(w int) bool { return m.kinds[w] == 'W' && m.keeps(recheckWriters) }

// policy returns which of those ahead a position waits for.
func (m *model) policy(w int, ahead nodeSet) (wait nodeSet) {
	for x := range maxNodes {
		if ahead.has(x) && !m.conflict(x, w) {
			ahead.drop(x)
		}
	}
	if ahead.count() < m.permits {
		return 0
	}
	for range m.permits {
		x := m.nearest(ahead)
		wait.add(x)
		ahead.drop(x)
	}
	return wait
}
