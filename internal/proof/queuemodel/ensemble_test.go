package queuemodel

// alias returns under which name a node stands: some names are used again.
func (m *model) alias(x int) int {
	if m.recurring && x == maxLocals+1 && m.made.has(maxLocals) && m.number[maxLocals] == m.number[x] {
		return maxLocals
	}
	return x
}

func (m *model) aliases(nodes nodeSet) nodeSet {
	if nodes.has(maxLocals+1) && m.alias(maxLocals+1) == maxLocals {
		nodes.drop(maxLocals + 1)
		nodes.add(maxLocals)
	}
	return nodes
}

// at returns what stands after some changes.
func (m *model) at(position uint8) nodeSet {
	nodes := m.known
	for _, c := range m.log[:position] {
		switch c.kind {
		case create:
			nodes.add(int(c.node))
		case remove:
			nodes.drop(int(c.node))
		}
	}
	return nodes
}

// knows moves forward the zxid that the client knows.
func (m *model) knows(position uint8) {
	if position == 0 {
		return
	}
	m.known = m.at(position)
	copy(m.log[:], m.log[position:])
	clear(m.log[maxChanges-position:])
	m.logged -= position
	m.replica -= position
	for i := range m.inbox[:m.received] {
		p := &m.inbox[i].position
		*p -= min(*p, position)
	}
}

// happens makes a change at the leader.
func (m *model) happens(kind uint8, x int) {
	if m.logged == maxChanges {
		panic("too many changes")
	}
	m.log[m.logged] = change{kind, uint8(x)}
	m.logged++
	switch kind {
	case create:
		m.standing.add(x)
		m.made.add(x)
	case remove:
		m.standing.drop(x)
	}
	for w := range m.locals {
		if m.standing.has(w) && m.free(w) {
			m.entitled.add(w)
		}
	}
	if m.attached && !m.lagging {
		m.catchUp(m.logged)
	}
}

// join creates a node at the end of the queue.
func (m *model) join(x int) {
	m.number[x] = m.nextNumber
	m.nextNumber++
	m.happens(create, x)
}

// catchUp has the client's server carry out changes, and send the events of watches.
func (m *model) catchUp(to uint8) {
	for m.replica < to {
		c := m.log[m.replica]
		m.replica++
		x := m.alias(int(c.node))
		if c.kind == create || !m.armed.has(x) {
			continue
		}
		m.armed.drop(x)
		event := message{kind: deleted, node: uint8(x)}
		if c.kind == changed {
			event.kind = changed
		}
		m.push(event)
	}
}

// before reports whether a node has a smaller number.
func (m *model) before(x, w int) bool { return m.number[x] < m.number[w] }

// conflict reports whether two may not hold at the same time.
func (m *model) conflict(x, y int) bool { return m.kinds[x] != 'R' || m.kinds[y] != 'R' }

// free reports whether a contender would be admitted by what stands at the leader.
func (m *model) free(w int) bool {
	n := 0
	for x := range maxNodes {
		if x != w && m.standing.has(x) && m.before(x, w) && m.conflict(x, w) {
			n++
		}
	}
	return n < m.permits
}

// nextRequest takes the first one.
func (m *model) nextRequest() message {
	r := m.requests[0]
	copy(m.requests[:], m.requests[1:])
	m.requested--
	m.requests[m.requested] = message{}
	return r
}

// serve has the server carry out the first request.
func (m *model) serve() (violation string) {
	r := m.nextRequest()
	x := int(r.node)
	switch r.kind {
	case create:
		m.join(x)
		m.catchUp(m.logged)
		r.ok = true
	case remove:
		m.catchUp(m.logged)
		if m.standing.has(x) {
			m.happens(remove, x)
			m.catchUp(m.logged)
		}
	case synchronise:
		m.catchUp(m.logged)
	case find:
		m.catchUp(m.logged)
		r.ok = m.standing.has(x)
	case list:
		r.shows = m.aliases(m.at(m.replica))
	case get, look:
		if r.ok = m.aliases(m.at(m.replica)).has(x); r.ok && r.sets {
			m.armed.add(x)
		}
	case work:
		m.catchUp(m.logged)
		m.worked.add(x)
		r.dead = true
	case together:
		m.catchUp(m.logged)
		violation = m.serveGroup(r)
		r.ok = true
	case lateWrite:
		m.catchUp(m.logged)
		violation = m.writesLate(x)
		r.dead = true
	}
	r.position = m.replica
	m.push(r)
	return violation
}
