package queuemodel

// The steps of framework/groups.go. When a group goes out is not in the model: it may
// at any moment. Nor are its other members: one of them may have the group refused.

// A group is the message of those that it creates and of those that it deletes.
func group(creates, removes nodeSet) message {
	return message{kind: together, shows: creates | removes<<maxLocals}
}

func (r message) creates() nodeSet { return r.shows & (1<<maxLocals - 1) }
func (r message) removes() nodeSet { return r.shows >> maxLocals }

// mayJoin reports whether a create may be queued: there is one of a parent in a group.
func (m *model) mayJoin() bool {
	return m.groups && m.canSend() && (m.joining == 0 || !m.keeps(oneOfParent))
}

// joins queues a create.
func (m *model) joins(w int) {
	n := *m
	n.phase[w] = creating
	n.toCreate.drop(w)
	n.joining.add(w)
	m.may(&n, "joins in a group", w)
}

// grouping is what becomes of a node in groups.
func (m *model) grouping(w int) {
	if m.toCreate.has(w) && m.mayJoin() {
		m.joins(w)
	}
	if !m.groups || !m.canSend() || m.removal[w] != due || m.parting.has(w) {
		return
	}
	if !m.toHand.has(w) || !m.keeps(handsOverAlone) {
		n := *m
		n.parting.add(w)
		m.may(&n, "queues delete", w)
	}
}

// sendGroup sends what is queued.
func (m *model) sendGroup() {
	if m.joining|m.parting == 0 || !m.canSend() {
		return
	}
	n := *m
	n.send(group(m.joining, m.parting))
	for w := range m.locals {
		if m.parting.has(w) {
			n.deleteSent(w)
		}
		if m.joining.has(w) {
			n.createSent(w)
		}
	}
	n.joining, n.parting = 0, 0
	m.will(&n, "send group", nobody)
}

// refuse is what a server may do instead of carrying out a group.
func (m *model) refuse() {
	if m.left.refusals == 0 || m.requests[0].kind != together || m.requests[0].ok {
		return
	}
	n := *m
	n.left.refusals--
	r := n.nextRequest()
	r.position = n.replica
	n.push(r)
	m.may(&n, "group is refused", nobody)
}

// serveGroup carries it out.
func (m *model) serveGroup(r message) (violation string) {
	for w := range m.locals {
		if r.removes().has(w) && m.standing.has(w) {
			m.happens(remove, w)
		}
	}
	for w := range m.locals {
		if r.creates().has(w) {
			m.join(w)
		}
	}
	m.catchUp(m.logged)
	if r.creates().count() > 1 {
		return "two acquirers have one token"
	}
	return ""
}

// onGroup gives each member its answer. What was refused is repeated, each alone.
func (m *model) onGroup(r message) {
	for w := range m.locals {
		if r.removes().has(w) {
			m.onMember(remove, w, r.ok)
		}
	}
	for w := range m.locals {
		if r.creates().has(w) {
			m.onMember(create, w, r.ok)
		}
	}
}

func (m *model) onMember(kind uint8, w int, ok bool) {
	answer := message{kind: kind, node: uint8(w)}
	switch {
	case ok && m.late:
		m.keep(answer)
	case ok:
		m.handle(answer)
	case !m.keeps(repeatAlone):
	case kind == remove:
		m.send(answer)
	default:
		m.send(answer)
		if m.keeps(toldAgain) {
			m.createSent(w)
		}
	}
}

// hasRoom reports whether the first answer can be handled: that to a refused group has
// its members sent again.
func (m *model) hasRoom() bool {
	r := m.inbox[0]
	return r.kind != together || r.ok || int(m.requested)+r.shows.count() <= maxRequests
}

// breakGroup is what a break makes of a group that was sent.
func (m *model) breakGroup(r message) {
	m.unknown |= r.creates()
	for w := range m.locals {
		if r.removes().has(w) {
			m.removal[w] = due
		}
	}
}

// breakQueue gives back what was not sent.
func (m *model) breakQueue() {
	if m.keeps(givenBack) {
		m.toCreate |= m.joining
		m.parting = 0
	}
	m.joining = 0
}
