package queuemodel

import "fmt"

// A step is one thing that can happen in a state.
type step struct {
	to        state
	verb      string
	who       int    // a node, or nobody
	violation string // what must not happen, and has
	byItself  bool   // needs no decision of others
}

const nobody = -1

func (s step) String() string {
	if s.who == nobody {
		return s.verb
	}
	return [...]string{"W0 ", "W1 ", "W2 ", "F0 ", "F1 ", "D "}[s.who] + s.verb
}

// steps collects what can happen in one state.
type steps struct {
	*scenario
	all []step
}

// possible returns all that can happen now. The next call overwrites it.
func (m *model) possible() []step {
	m.all = m.all[:0]
	if m.attached {
		m.network()
	}
	if m.late {
		m.lateAnswers()
	}
	n := *m
	if verb := n.listStep(); verb != "" {
		m.will(&n, verb, nobody)
	}
	for x := range maxNodes {
		m.reader(x)
	}
	for w := range m.locals {
		m.position(w)
		m.hold(w)
		m.cleanUp(w)
		m.grouping(w)
	}
	m.sendGroup()
	m.connection()
	m.environment()
	return m.all
}

// will records what happens by itself, may what others may do.
func (m *model) will(n *model, verb string, who int) { m.record(n, verb, who, "", true) }
func (m *model) may(n *model, verb string, who int)  { m.record(n, verb, who, "", false) }

func (m *model) record(n *model, verb string, who int, violation string, byItself bool) {
	if n.attached && !n.open && n.missedDeleted|n.missedChanged == 0 {
		n.opens()
	}
	n.closeUnused()
	if violation == "" {
		violation = n.overlap()
	}
	m.all = append(m.all, step{n.state, verb, who, violation, byItself})
}

// network is what the server and the connection do.
func (m *model) network() {
	if m.requested > 0 && m.received < maxInbox-4 {
		n := *m
		violation := n.serve()
		m.record(&n, served[m.requests[0].kind], int(m.requests[0].node), violation, true)
		m.refuse()
	}
	if m.replica < m.logged {
		n := *m
		n.catchUp(n.replica + 1)
		m.will(&n, "the server catches up by one", nobody)
	}
	for x := range maxNodes {
		if m.missedDeleted.has(x) {
			n := *m
			n.missedDeleted.drop(x)
			n.onEvent(deleted, x)
			m.will(&n, "was deleted: event of the break", x)
		}
		if m.missedChanged.has(x) {
			n := *m
			n.missedChanged.drop(x)
			n.onEvent(changed, x)
			m.will(&n, "was changed: event of the break", x)
		}
	}
	if m.received > 0 && m.missedDeleted|m.missedChanged == 0 && m.hasRoom() {
		n := *m
		n.receive()
		m.will(&n, receives[m.inbox[0].kind], int(m.inbox[0].node))
	}
}

var served = [...]string{
	create: "create is served", remove: "delete is served", synchronise: "sync is served", list: "list is served",
	get: "get is served", look: "get of the hold is served", find: "is looked for", work: "works", lateWrite: "writes late", together: "group is served",
}

var receives = [...]string{
	create: "answer to create", remove: "answer to delete", synchronise: "answer to sync", list: "answer to list",
	get: "answer to get", look: "answer to get of the hold", find: "answer to the search",
	work: "answer to work", lateWrite: "answer to the late write",
	deleted: "was deleted: event", changed: "was changed: event", together: "answer to group",
}

// lateAnswers are handled by goroutines.
func (m *model) lateAnswers() {
	for x := range maxNodes {
		if m.lateRead[x] > 0 {
			n := *m
			n.lateRead[x]--
			n.onRead(x, true)
			m.will(&n, "get is handled", x)
		}
		if m.lateNoNode[x] > 0 {
			n := *m
			n.lateNoNode[x]--
			n.onRead(x, false)
			m.will(&n, "get without a node is handled", x)
		}
		m.lateAnswer(x, func(n *model) *nodeSet { return &n.lateCreated }, create, true)
		m.lateAnswer(x, func(n *model) *nodeSet { return &n.lateRemoved }, remove, true)
		m.lateAnswer(x, func(n *model) *nodeSet { return &n.lateLook }, look, true)
		m.lateAnswer(x, func(n *model) *nodeSet { return &n.lateLookNoNode }, look, false)
		m.lateAnswer(x, func(n *model) *nodeSet { return &n.lateFound }, find, true)
		m.lateAnswer(x, func(n *model) *nodeSet { return &n.lateNotFound }, find, false)
	}
	if m.listing == answered {
		n := *m
		n.onListed()
		m.will(&n, "list is handled", nobody)
	}
}

func (m *model) lateAnswer(x int, of func(*model) *nodeSet, kind uint8, ok bool) {
	if !of(m).has(x) {
		return
	}
	n := *m
	of(&n).drop(x)
	n.handle(message{kind: kind, node: uint8(x), ok: ok})
	m.will(&n, receives[kind]+" is handled", x)
}

// reader is what the goroutines of the view do that read.
func (m *model) reader(x int) {
	n := *m
	switch {
	case m.toRead[x] > 0 && m.canSend():
		n.toRead[x]--
	case m.queued.has(x) && m.canSend():
		n.queued.drop(x)
		n.setting.add(x)
	default:
		return
	}
	n.send(message{kind: get, node: uint8(x), sets: !n.watches.has(x)})
	m.will(&n, "send get", x)
}

func (m *model) position(w int) {
	if m.phase[w] == waiting && m.young.has(w) {
		n := *m
		n.grows(w)
		m.will(&n, growsOld, w)
	}
	if m.phase[w] != waiting || !m.woken.has(w) {
		return
	}
	n := *m
	violation := n.decide(w)
	verb := "decides"
	switch n.phase[w] {
	case holding:
		verb = "is granted"
	case left:
		verb = "is evicted"
	}
	m.record(&n, verb, w, violation, true)
}

func (m *model) hold(w int) {
	if m.phase[w] != holding && m.phase[w] != leaseLost {
		return
	}
	n := *m
	switch {
	case m.fresh.has(w):
		n.take(w)
		m.will(&n, "takes the watch", w)
	case m.looks(w) && m.canSend():
		n.looking.add(w)
		n.send(message{kind: look, node: uint8(w), sets: !n.watches.has(w)})
		m.will(&n, "send get of the hold", w)
	case m.phase[w] == leaseLost:
		n.phase[w], n.removal[w] = released, due
		m.will(&n, "is to be deleted, its lease is lost", w)
	}
}

// cleanUp sends what leaves no node behind.
func (m *model) cleanUp(w int) {
	if !m.canSend() {
		return
	}
	n := *m
	if m.removal[w] == due && !m.parting.has(w) {
		n.sendDelete(w)
		m.will(&n, "send delete", w)
	}
	if m.toCreate.has(w) {
		n := *m
		n.toCreate.drop(w)
		n.sendCreate(w)
		m.will(&n, "send create", w)
	}
	if m.unknown.has(w) && !m.beingFound.has(w) {
		n := *m
		n.beingFound.add(w)
		n.send(message{kind: find, node: uint8(w)})
		m.will(&n, "send search", w)
	}
}

func (m *model) connection() {
	if m.attached {
		if m.left.breaks > 0 {
			n := *m
			n.left.breaks--
			n.breakDown()
			m.may(&n, "the connection breaks", nobody)
		}
		return
	}
	for replica := uint8(0); replica <= m.logged; replica++ {
		if replica < m.logged && !m.lagging {
			continue
		}
		n := *m
		n.connect(replica)
		m.will(&n, connects[m.logged-replica], nobody)
		if m.left.unkept > 0 {
			n := *m
			n.left.unkept--
			n.connectUnkept(replica)
			m.will(&n, connects[m.logged-replica]+", no watch is set again", nobody)
		}
	}
}

var connects = func() (texts [maxChanges + 1]string) {
	for behind := range texts {
		texts[behind] = fmt.Sprintf("connect to a server that is %d changes behind", behind)
	}
	return texts
}()
