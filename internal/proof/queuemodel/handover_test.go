package queuemodel

// The steps of a hand-over in memory: framework/releases.go, and what the view makes of
// them.

// release ends a hold that is valid. If there is a connection, its next holder need not
// wait for the deletion.
func (m *model) release(w int) {
	m.phase[w], m.removal[w] = released, due
	m.endHold(w)
	handsOver := m.open && m.handsOver(w)
	m.toHand.put(w, handsOver)
	if handsOver && !m.keeps(sentBeforeOver) {
		m.isOver(w)
	}
}

// handsOver reports whether a slot may be handed over: not that of a reader, nor
// permits.
func (m *model) handsOver(x int) bool { return m.kinds[x] != 'R' && m.permits == 1 }

func (m *model) sendDelete(w int) {
	m.send(message{kind: remove, node: uint8(w)})
	m.deleteSent(w)
}

func (m *model) deleteSent(w int) {
	m.removal[w] = sent
	if m.toHand.has(w) {
		m.isOver(w)
	}
}

// isOver tells the view that the delete of a node that was released has its place.
func (m *model) isOver(w int) {
	m.toHand.drop(w)
	m.over.add(w)
	m.unconfirmed.add(w)
	for x := range m.locals {
		if m.waits[x].has(w) {
			m.woken.add(x)
		}
	}
}

// confirmed is called when the deletion is known.
func (m *model) confirmed(x int) {
	m.over.drop(x)
	m.unconfirmed.drop(x)
}

// opens is called before requests may be sent over a connection. What is unconfirmed is
// sent again first.
func (m *model) opens() {
	m.open = true
	for w := range m.locals {
		if m.unconfirmed.has(w) && m.removal[w] == due && m.keeps(sentAgainFirst) {
			m.removal[w] = sent
			m.send(message{kind: remove, node: uint8(w)})
		}
	}
}

// isNext reports whether only nodes that were released keep a position out.
func (m *model) isNext(w int, ahead nodeSet) bool {
	return m.over&ahead != 0 && m.policy(w, ahead&^m.over) == 0
}

// takesOver reports whether a position that is next is admitted.
func (m *model) takesOver(w int) bool {
	if m.young.has(w) {
		return true
	}
	m.watchOwn(w)
	return m.watched.has(w) || !m.keeps(watchOfNext)
}

// rests reports whether a position reads nothing yet.
func (m *model) rests(w int, wait nodeSet) bool {
	if !m.young.has(w) {
		return false
	}
	for x := range maxNodes {
		if wait.has(x) && (!m.isLocal(x) || !m.handsOver(x)) {
			return false
		}
	}
	m.waitAt(w, wait, false)
	return true
}

const growsOld = "grows old"

// grows has a position be young no more, of which a timer tells it if it rests.
func (m *model) grows(w int) {
	m.young.drop(w)
	if m.phase[w] == waiting && m.keeps(restEnds) {
		m.woken.add(w)
	}
}

// handOver grants to a position before the nodes ahead are deleted. Its own may have
// been deleted by an operator, if the event is on its way, or the hold soon looks.
func (m *model) handOver(w int) (violation string) {
	just := m.entitled.has(w) || !m.isKeptOut(w) && (m.standing.has(w) || m.isOnWay(w) || m.young.has(w) && m.byOperator.has(w))
	m.becomeHolder(w)
	if !just {
		m.unjust.add(w)
		return "unjust grant"
	}
	return ""
}

// isKeptOut reports whether a node keeps a position out that is not over.
func (m *model) isKeptOut(w int) bool {
	for x := range maxNodes {
		if m.standing.has(x) && m.before(x, w) && m.conflict(x, w) && !m.unconfirmed.has(x) && !m.reaped.has(w) {
			return true
		}
	}
	return false
}

// isOnWay reports whether an event will say that an operator has deleted a node, or has
// changed it before, whereupon its hold reads it.
func (m *model) isOnWay(x int) bool {
	if !m.byOperator.has(x) {
		return false
	}
	for _, r := range m.inbox[:m.received] {
		if (r.kind == deleted || r.kind == changed) && int(r.node) == x {
			return true
		}
	}
	return m.armed.has(x)
}

// writesLate looks at a transaction of an earlier holder that checks its node, when the
// server carries it out.
func (m *model) writesLate(x int) (violation string) {
	for w := range m.locals {
		if m.standing.has(x) && m.worked.has(w) && m.before(x, w) {
			return "an earlier holder writes after a later one"
		}
	}
	return ""
}

// writers are what holders send, and those that were.
func (m *model) writers(w int) {
	switch {
	case m.left.lateWrites == 0 || !m.canSend():
	case m.phase[w] == holding && !m.worked.has(w) && !m.isSent(work, w):
		n := *m
		n.send(message{kind: work, node: uint8(w)})
		m.may(&n, "send work", w)
	case m.phase[w] == released && m.removal[w] != done:
		n := *m
		n.left.lateWrites--
		n.send(message{kind: lateWrite, node: uint8(w)})
		m.may(&n, "send a late write", w)
	}
}

func (m *model) isSent(kind uint8, x int) bool {
	for _, r := range m.requests[:m.requested] {
		if r.kind == kind && int(r.node) == x {
			return true
		}
	}
	return false
}
