package queuemodel

// The steps of node.go.

// reads are the nodes that are watched, or about to be.
func (m *model) reads() nodeSet { return m.queued | m.setting | m.fired | m.watched }

// needed reports whether a position needs the watch on a node.
func (m *model) needed(x int) bool {
	for w := range m.locals {
		if m.waits[w].has(x) {
			return true
		}
	}
	return m.owned.has(x)
}

// read sets the watch, unless there is one. Without firedWatch an event that comes
// before the answer to a read ends it, so that there may be two.
func (m *model) read(x int) {
	if !m.reads().has(x) {
		m.queued.add(x)
	}
}

func (m *model) onRead(x int, ok bool) {
	switch {
	case !ok && m.keeps(readLearns):
		m.learn(x)
		return
	case !ok:
		m.forget(x)
		return
	case m.setting.has(x):
		m.setting.drop(x)
		m.watched.add(x)
	default:
		m.fired.drop(x)
		m.watched.drop(x)
	}
	if m.owned.has(x) && m.admissible.has(x) && m.keeps(ownReadWakes) {
		m.woken.add(x)
	}
	m.renew(x)
	m.dropUnused(x)
}

// onChange gets an event that is not a deletion.
func (m *model) onChange(x int) {
	m.missed.put(x, m.missed.has(x) || m.fresh.has(x))
	if m.setting.has(x) {
		m.setting.drop(x)
		m.fired.put(x, m.keeps(firedWatch))
		return
	}
	m.queued.drop(x)
	m.watched.drop(x)
	if m.keeps(renewFired) {
		m.renew(x)
	}
}

func (m *model) renew(x int) {
	if m.needed(x) {
		m.read(x)
	}
}

// dropUnused ends the watch on a node that nothing needs.
func (m *model) dropUnused(x int) {
	if m.watched.has(x) && m.names.has(x) && m.used() {
		return
	}
	if m.needed(x) || m.setting.has(x) || m.fired.has(x) || m.heir.has(x) {
		return
	}
	m.queued.drop(x)
	m.watched.drop(x)
}
