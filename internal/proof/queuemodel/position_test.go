package queuemodel

// The steps of position.go, and of the creates below it.

// sendCreate sends the create of a position, and has the listing wake it that is sent
// behind it.
func (m *model) sendCreate(w int) {
	m.send(message{kind: create, node: uint8(w)})
	m.createSent(w)
}

func (m *model) createSent(w int) {
	if m.phase[w] != creating { // it has given up
		return
	}
	m.sentBefore.drop(w)
	if m.front == 0 || m.crowd(maxNodes) < m.front || !m.keeps(joinsUnlisted) {
		m.want(w, false)
	}
}

func (m *model) created(w int) {
	if m.phase[w] != creating { // it has given up
		m.removal[w] = due
		return
	}
	m.phase[w] = waiting
	m.answeredBefore.drop(w)
	m.listedAnswered.drop(w)
	if m.isBehind(w) {
		m.behind.add(w)
		m.wanting.drop(w)
		return
	}
	m.woken.add(w)
}

// onFound is what follows when a create of unknown outcome was looked for. A second
// node of the same position is not in the model.
func (m *model) onFound(w int, ok bool) {
	m.unknown.drop(w)
	m.beingFound.drop(w)
	switch {
	case ok && m.phase[w] == left:
		m.removal[w] = due
	case ok:
		m.created(w)
	case m.phase[w] == creating && !m.made.has(w):
		m.toCreate.add(w)
	default:
		m.removal[w] = done
		if m.phase[w] == creating {
			m.phase[w] = left
			m.end(w)
		}
	}
}

// giveUp ends a wait. A create that is under way is deleted when it is answered.
func (m *model) giveUp(w int) {
	switch {
	case m.phase[w] == waiting:
		m.removal[w] = due
	case (m.toCreate | m.joining).has(w):
		m.toCreate.drop(w)
		m.joining.drop(w)
		m.removal[w] = done
	}
	m.phase[w] = left
	m.end(w)
}

// evict ends the wait of a position whose node is gone.
func (m *model) evict(w int) (violation string) {
	m.phase[w], m.removal[w] = left, done
	m.end(w)
	if m.standing.has(w) {
		return "evicted though its node stands"
	}
	return ""
}

// end ends the wait. It leaves the node as it is.
func (m *model) end(w int) {
	waits := m.waits[w]
	m.waits[w] = 0
	for _, of := range []*nodeSet{
		&m.wanting, &m.wantingNext, &m.owned, &m.admissible, &m.woken, &m.evicted, &m.failedOnce, &m.failed,
		&m.basis, &m.young, &m.sentBefore, &m.answeredBefore, &m.listedAnswered, &m.behind, &m.stoodBehind,
	} {
		of.drop(w)
	}
	m.comeToFront()
	for x := range maxNodes {
		if waits.has(x) || x == w {
			m.dropUnused(x)
		}
	}
}
