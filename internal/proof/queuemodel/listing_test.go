package queuemodel

// The steps of listing.go.

// want has a position woken by a listing. suffices says that its moment is late enough
// if it has come.
func (m *model) want(w int, suffices bool) {
	m.wanting.add(w)
	m.wantingNext.put(w, m.begun() && suffices)
	m.list()
}

func (m *model) list() {
	if m.listing != noListing {
		return
	}
	m.listing = begins
	if !m.keeps(momentOfSending) {
		m.begin()
	}
}

// begin is the moment of a listing.
func (m *model) begin() {
	m.voidedNext = false
	if m.keeps(factsSince) {
		m.facts, m.factsAgain = 0, 0
	}
	m.wantingNext = m.wanting
	m.sentBefore, m.answeredBefore = 0, 0
	for w := range m.locals {
		m.answeredBefore.put(w, m.phase[w] == waiting)
		m.sentBefore.put(w, m.phase[w] == waiting || m.phase[w] == creating && !(m.toCreate|m.unknown|m.joining).has(w))
	}
}

// listStep is the next step of what lists, if it can make one: a goroutine if the
// listing is to be repeated or behind a sync.
func (m *model) listStep() (verb string) {
	switch {
	case m.listing == begins && m.listed == isBroken && m.keeps(syncFirst):
		m.listing, m.repeats = syncDue, true
		return "lister begins with a sync"
	case m.listing == syncDue && m.canSend():
		m.send(message{kind: synchronise})
		m.listing = syncSent
		return "send sync"
	case (m.listing == begins || m.listing == captures) && !m.open:
		m.listing = broke
		return "lister takes a broken connection"
	case m.listing == begins || m.listing == captures:
		if m.keeps(momentOfSending) {
			m.begin()
		}
		m.listing = listDue
		return "lister takes the connection and the moment"
	case m.listing == listDue && m.canSend():
		m.send(message{kind: list})
		m.listing = listSent
		return "send list"
	case m.listing == sentAnother && m.canSend():
		m.send(message{kind: list})
		m.listing = listSent
		return "send list again"
	case m.listing == broke && !m.open && !m.repeats:
		m.listing, m.repeats = begins, true
		return "list cannot be sent now"
	case m.listing == broke && m.open:
		m.onBroken()
		return "answer of another connection to list"
	case m.listing == unanswered:
		m.onFailed()
		return "no answer to list"
	}
	return ""
}

// onListed is called when the listing was answered.
func (m *model) onListed() {
	if m.used() {
		m.accept()
	}
	m.endListing()
}

// onBroken: it does not count. Those whose create was on that connection ask again.
func (m *model) onBroken() {
	if m.used() {
		m.listed = isBroken
		m.dropJoining()
	}
	if !m.keeps(repeatBroken) {
		m.wanting = 0
	}
	m.endListing()
}

// onFailed: it is tried again, once.
func (m *model) onFailed() {
	m.dropJoining()
	for w := range m.locals {
		if m.wanting.has(w) && (m.failedOnce.has(w) || !m.keeps(retryFailed)) {
			m.wanting.drop(w)
			if m.keeps(retryFailed) {
				m.failed.add(w)
				m.woken.add(w)
			}
		}
	}
	m.failedOnce |= m.wanting
	m.endListing()
	m.repeats = m.listing != noListing
}

func (m *model) dropJoining() {
	for w := range m.locals {
		if m.phase[w] == creating && m.keeps(dropJoining) {
			m.wanting.drop(w)
		}
	}
}

// endListing is what follows a listing, however it ended.
func (m *model) endListing() {
	m.listing, m.repeats, m.shows = noListing, false, 0
	m.voidedNext = false
	m.wantingNext, m.sentBefore, m.answeredBefore = 0, 0, 0
	if m.keeps(factsSince) {
		m.facts, m.factsAgain = 0, 0
	}
	if m.wanting != 0 {
		m.list()
	}
}

// accept replaces the listing of the view.
func (m *model) accept() {
	m.listed, m.names, m.gone = counts, m.shows, 0
	m.reduced, m.rechecks, m.voided, m.listedAnswered = false, 0, m.voidedNext, m.answeredBefore
	m.basis = 0
	for x := range maxNodes {
		if m.facts.has(x) && m.keeps(facts) {
			m.remove(x, m.factsAgain.has(x) && m.keeps(recheckShown))
		}
	}
	if m.keeps(listingForgets) {
		m.forgetUnlisted()
	}
	m.trim()
	served := m.wanting
	if m.keeps(wantAfter) {
		served &= m.wantingNext
	}
	if m.keeps(listingWakes) {
		m.woken |= served
	}
	m.wanting &^= served
	m.failedOnce &^= served
}

// forgetUnlisted forgets nodes whose event may never come, and notifies their holds.
func (m *model) forgetUnlisted() {
	for x := range maxNodes {
		if m.names.has(x) && !m.gone.has(x) || !m.reads().has(x) && !m.needed(x) && !m.heir.has(x) {
			continue
		}
		heir := m.heir.has(x) && !m.fresh.has(x)
		m.forget(x)
		m.notifyHold(deleted, x, heir)
	}
}
