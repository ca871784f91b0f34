package queuemodel

// The steps of crowd.go. All positions of the client are of one session here.

// crowd returns how many positions wait for slots that exclude all others, and are
// ahead of a node; maxNodes stands for a newcomer.
func (m *model) crowd(x int) (n int) {
	for w := range m.locals {
		if m.phase[w] == waiting && m.handsOver(w) && (x == maxNodes || m.before(w, x)) {
			n++
		}
	}
	return n
}

// isBehind reports whether a position does not belong to the front.
func (m *model) isBehind(w int) bool { return m.front > 0 && m.crowd(w) >= m.front }

// comeToFront wakes the positions that have come to the front.
func (m *model) comeToFront() {
	for w := range m.locals {
		if !m.behind.has(w) || m.isBehind(w) || !m.keeps(frontWakes) {
			continue
		}
		m.behind.drop(w)
		m.stoodBehind.add(w)
		m.woken.add(w)
	}
}

// trim drops what a listing shows behind the front, and those who want it. The code
// keeps some more.
func (m *model) trim() {
	m.lastName = 0
	if m.front == 0 || m.crowd(maxNodes) <= m.front || !m.keeps(trims) {
		return
	}
	for w := range m.locals {
		inFront := m.phase[w] == waiting && m.handsOver(w) && m.crowd(w) < m.front
		if inFront || m.wanting.has(w) && m.phase[w] == waiting && m.keeps(keepsWanted) {
			m.lastName = max(m.lastName, m.number[w])
		}
	}
	for x := range maxNodes {
		if m.number[x] > m.lastName {
			m.names.drop(x)
		}
	}
}

// shown reports whether the listing would show a node.
func (m *model) shown(x int) bool {
	return m.lastName == 0 || m.number[x] <= m.lastName || !m.keeps(showsBehind)
}
