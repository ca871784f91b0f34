package queuemodel

// environment is what others do, and what the callers of positions and leases do.
func (m *model) environment() {
	if m.left.failures > 0 {
		m.failListing()
	}
	for w := range m.locals {
		m.callers(w)
		m.writers(w)
	}
	for f := range m.foreign {
		m.foreigner(f)
	}
	if m.downgradedPhase == holding || m.downgradedPhase == waiting && m.foreignPhase[0] == released {
		n := *m
		n.downgradedPhase = released
		n.happens(remove, downgraded)
		m.may(&n, "ends", downgraded)
	}
	for x := range maxNodes {
		if m.standing.has(x) {
			m.operator(x)
		}
	}
	if m.left.reaps > 0 && m.nextNumber > 0 && m.standing == 0 {
		n := *m
		n.left.reaps--
		n.nextNumber, n.reaped = 0, n.made
		m.may(&n, "the parent is made anew", nobody)
	}
}

// failListing has the listing answered by an error.
func (m *model) failListing() {
	n := *m
	switch {
	case m.listing == answered:
	case !m.late && m.received > 0 && m.inbox[0].kind == list && m.missedDeleted|m.missedChanged == 0:
		n.shift()
	default:
		return
	}
	n.left.failures--
	n.onFailed()
	m.may(&n, "list fails", nobody)
}

// callers is what the callers of a position and of its lease do. Those of the same kind
// join in one order.
func (m *model) callers(w int) {
	switch m.phase[w] {
	case outside:
		if w > 0 && m.phase[w-1] == outside && m.kinds[w-1] == m.kinds[w] {
			return
		}
		if m.mayJoin() {
			m.joins(w)
		}
		n := *m
		n.phase[w] = creating
		if m.canSend() {
			n.sendCreate(w)
			m.may(&n, "joins", w)
		} else if !m.open {
			n.toCreate.add(w)
			m.may(&n, "joins without a connection", w)
		}
	case creating, waiting:
		if m.left.leaves > 0 {
			n := *m
			n.left.leaves--
			n.giveUp(w)
			m.may(&n, "gives up", w)
		}
	case holding:
		n := *m
		n.release(w)
		m.may(&n, "releases", w)
		if m.left.losses > 0 {
			n := *m
			n.left.losses--
			n.expire(w)
			m.may(&n, "loses its lease", w)
		}
	}
}

// foreigner is what a contender of another session does. It is granted by what stands
// at the leader.
func (m *model) foreigner(f int) {
	x := maxLocals + f
	n := *m
	switch m.foreignPhase[f] {
	case outside:
		if f == 0 || m.foreignPhase[f-1] != outside || m.kinds[x-1] != m.kinds[x] {
			n.foreignPhase[f] = waiting
			n.join(x)
			m.may(&n, "joins", x)
		}
	case waiting:
		if m.free(x) {
			n.foreignPhase[f] = holding
			m.may(&n, "is granted", x)
		}
	case holding:
		n.foreignPhase[f] = released
		n.happens(remove, x)
		m.may(&n, "ends", x)
		if f == 0 {
			m.downgrade(x)
		}
	}
}

// downgrade: a writer makes a reader's node with its own number, then deletes its own.
func (m *model) downgrade(x int) {
	n := *m
	switch {
	case m.left.downgrades > 0 && m.kinds[x] == 'W' && m.downgradedPhase == outside:
		n.left.downgrades--
		n.downgradedPhase = waiting
		n.number[downgraded] = m.number[x]
		n.happens(create, downgraded)
		m.may(&n, "makes D", x)
	case m.downgradedPhase == waiting && m.standing.has(downgraded):
		n.downgradedPhase, n.foreignPhase[0] = holding, released
		n.happens(remove, x)
		m.may(&n, "ends, D holds", x)
	}
}

// operator is what an operator does to a node that stands.
func (m *model) operator(x int) {
	if m.left.deletes > 0 {
		n := *m
		n.left.deletes--
		n.byOperator.add(x)
		switch {
		case x == downgraded:
			n.downgradedPhase = released
		case x >= maxLocals:
			n.foreignPhase[x-maxLocals] = released
		}
		n.happens(remove, x)
		m.may(&n, "is deleted by an operator", x)
	}
	if m.left.changes > 0 {
		n := *m
		n.left.changes--
		n.happens(changed, x)
		m.may(&n, "gets other data", x)
	}
}
