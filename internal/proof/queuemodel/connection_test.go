package queuemodel

// canSend reports whether a request may be sent now.
func (m *model) canSend() bool { return m.open && m.requested < maxRequests }

func (m *model) send(r message) {
	m.requests[m.requested] = r
	m.requested++
}

func (m *model) push(r message) {
	if m.received == maxInbox {
		panic("too many messages")
	}
	m.inbox[m.received] = r
	m.received++
}

// shift takes the first message out of the inbox.
func (m *model) shift() message {
	r := m.inbox[0]
	copy(m.inbox[:], m.inbox[1:])
	m.received--
	m.inbox[m.received] = message{}
	return r
}

// receive has the client take the first message.
func (m *model) receive() {
	r := m.shift()
	if r.kind == deleted || r.kind == changed {
		m.onEvent(r.kind, int(r.node))
		return
	}
	m.knows(r.position)
	x := int(r.node)
	if (r.kind == get || r.kind == look) && r.ok && r.sets {
		m.watches.add(x)
	}
	switch {
	case r.dead:
	case r.kind == synchronise:
		m.listing = captures
	case r.kind == together:
		m.onGroup(r)
	case r.kind == list:
		m.listing, m.shows = answered, r.shows
		if !m.late {
			m.onListed()
		}
	case !m.late:
		m.handle(r)
	default:
		m.keep(r)
	}
}

// keep keeps an answer for the goroutine that handles it.
func (m *model) keep(r message) {
	x := int(r.node)
	pick := func(yes, no *nodeSet) *nodeSet {
		if r.ok {
			return yes
		}
		return no
	}
	switch r.kind {
	case get:
		if r.ok {
			m.lateRead[x]++
		} else {
			m.lateNoNode[x]++
		}
	case create:
		m.lateCreated.add(x)
	case remove:
		m.lateRemoved.add(x)
	case look:
		pick(&m.lateLook, &m.lateLookNoNode).add(x)
	case find:
		pick(&m.lateFound, &m.lateNotFound).add(x)
	}
}

// handle is what a goroutine does with an answer.
func (m *model) handle(r message) {
	x := int(r.node)
	switch r.kind {
	case create:
		m.created(x)
	case remove:
		m.removal[x] = done
		m.endHold(x)
		m.learn(x)
		m.confirmed(x)
	case get:
		m.onRead(x, r.ok)
	case look:
		m.onLook(x, r.ok)
	case find:
		m.onFound(x, r.ok)
	}
}

// onEvent gives the event of a watch to all that it is for. A deletion is learned of
// first.
func (m *model) onEvent(kind uint8, x int) {
	m.watches.drop(x)
	heir := m.heir.has(x) && !m.fresh.has(x)
	if kind == deleted {
		m.learn(x)
		m.confirmed(x)
	} else {
		m.onChange(x)
	}
	if !heir || m.keeps(heirNotified) {
		m.notifyHold(kind, x, heir)
	}
}

// breakDown breaks the connection.
func (m *model) breakDown() {
	m.attached, m.open, m.missedDeleted, m.missedChanged, m.armed = false, false, 0, 0, 0
	for _, r := range append(m.requests[:m.requested:m.requested], m.inbox[:m.received]...) {
		x := int(r.node)
		switch {
		case r.dead:
		case r.kind == get:
			m.toRead[x]++
		case r.kind == create:
			m.unknown.add(x)
		case r.kind == together:
			m.breakGroup(r)
		case r.kind == remove:
			m.removal[x] = due
		case r.kind == look:
			m.looking.drop(x)
		case r.kind == find:
			m.beingFound.drop(x)
		}
	}
	clear(m.requests[:])
	clear(m.inbox[:])
	m.requested, m.received, m.replica = 0, 0, 0
	if m.keeps(overOfConnection) {
		m.over = 0
	}
	m.breakQueue()
	m.breakView()
}

// breakView is what a view makes of it.
func (m *model) breakView() {
	if m.listed == counts && m.keeps(voidByBreak) {
		m.listed = isBroken
	}
	switch {
	case m.listing == syncSent:
		m.listing = syncDue
	case m.listing < listDue, m.listing == listDue && !m.keeps(brokenFirst):
	case !m.keeps(discardBroken):
		if m.listing == listSent {
			m.listing = sentAnother
		}
	case m.listing == listSent && !m.repeats:
		m.listing = unanswered
	case m.listing != unanswered:
		m.listing, m.shows = broke, 0
	}
}

// connect attaches the client to a server that has some of the changes that the client
// does not know. Watches are set again, and say what was missed.
func (m *model) connect(replica uint8) {
	m.attached, m.replica = true, replica
	standing, known := m.aliases(m.at(replica)), m.aliases(m.known)
	m.armed = m.watches & standing & known
	m.missedDeleted = m.watches &^ standing
	m.missedChanged = m.watches & standing &^ known // made anew
	for _, c := range m.log[:replica] {
		if x := m.alias(int(c.node)); c.kind == changed && m.armed.has(x) {
			m.armed.drop(x)
			m.missedChanged.add(x)
		}
	}
}

// connectUnkept attaches it, but the watches are not set again: each gets an event that
// says so.
func (m *model) connectUnkept(replica uint8) {
	m.attached, m.replica = true, replica
	for x := range maxNodes {
		if m.watches.has(x) {
			m.onEvent(changed, x)
		}
	}
}
