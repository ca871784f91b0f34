package queuemodel

// The steps of a hold: node.go, where it takes over the watch of its position, and
// package hold, where it has its own.

// grant makes a position a holder. Its hold takes the watch a little later.
func (m *model) grant(w int) (violation string) {
	m.becomeHolder(w)
	if !m.entitled.has(w) {
		m.unjust.add(w)
		return "unjust grant"
	}
	return ""
}

// becomeHolder is what a grant does.
func (m *model) becomeHolder(w int) {
	m.phase[w] = holding
	m.fresh.add(w)
	if m.ages && m.handsOver(w) {
		m.granted = only(w)
	}
	if m.owned.has(w) && !(m.queued | m.setting).has(w) && m.keeps(inherit) {
		m.heir.add(w)
	}
	m.end(w)
}

// take has the hold get what comes, and ask what came before.
func (m *model) take(w int) {
	m.fresh.drop(w)
	dead, missed := m.dead.has(w), m.missed.has(w) || !m.watched.has(w)
	m.dead.drop(w)
	m.missed.drop(w)
	switch {
	case !m.heir.has(w) && !dead: // it looks by itself
	case !m.keeps(missedWhileTaken):
		m.relies.add(w)
	case dead:
		m.lose(w)
	default:
		m.relies.put(w, !missed)
	}
}

// looks reports whether a hold reads its node, because no watch on it is set.
func (m *model) looks(w int) bool {
	return m.phase[w] == holding && !(m.relies | m.looking | m.fresh).has(w) && m.keeps(holdLooks)
}

func (m *model) onLook(w int, ok bool) {
	m.looking.drop(w)
	fired := m.lookFired.has(w)
	m.lookFired.drop(w)
	switch {
	case m.phase[w] != holding && m.phase[w] != leaseLost:
	case !ok:
		m.lose(w)
	default:
		m.relies.put(w, !fired)
	}
}

// notifyHold gives an event to the hold of a node; heir says that it has the watch of
// the position.
func (m *model) notifyHold(kind uint8, x int, heir bool) {
	switch {
	case !heir && !(m.relies | m.looking).has(x):
	case kind == changed:
		m.relies.drop(x)
		m.lookFired.put(x, m.looking.has(x))
	case m.phase[x] == holding || m.phase[x] == leaseLost:
		m.lose(x)
	}
}

// lose ends a hold whose node is gone.
func (m *model) lose(w int) {
	m.phase[w], m.removal[w] = left, done
	m.endHold(w)
}

// endHold ends what a hold has under way. Nothing uses the answer to its read.
func (m *model) endHold(w int) {
	for _, nodes := range []*nodeSet{&m.heir, &m.fresh, &m.missed, &m.dead, &m.relies, &m.looking, &m.lookFired, &m.lateLook, &m.lateLookNoNode} {
		nodes.drop(w)
	}
	m.dropUnused(w)
}

// expire ends the lease of a hold whose node stands, and is deleted later. While it
// does, others may rely on the watch.
func (m *model) expire(w int) {
	heir := m.heir.has(w) && !m.fresh.has(w)
	m.endHold(w)
	m.phase[w] = leaseLost
	m.heir.put(w, heir)
}
