package zktest

import (
	"maps"
	"slices"
)

// Minority is an old leader without a quorum and has not noticed. [Server.Split] makes
// one; the zero value is not usable. Its methods may be called concurrently.
type Minority struct {
	server   *Server
	replica  *replica           // as of the split, unchanged
	sessions map[int64]*session // copies as of the split: the majority never learns of requests here
}

// Split splits the server in two, as when a leader is cut off from its quorum, or stood
// still, and the other servers have elected a new leader.
//
// The Server becomes the majority, with the new leader. Each session gets its whole
// timeout again. The old leader becomes the [Minority], with the present state:
//
//   - It answers reads, from a tree that does not change, syncs and pings. It
//     revalidates every session that it knows, also those that have expired on the
//     majority.
//   - It commits nothing. Writes, multis (also of checks only), and requests to open or
//     close a session are never answered, nor is any later request on that connection.
//     They never take effect, not even after [Minority.End].
//   - It refuses clients that have seen later transactions, and answers clients whose
//     session is younger than the split that it has expired.
//   - No session expires there, and requests there keep no session alive on the
//     majority.
//
// The named clients are on the minority from now on, with their connections and
// watches; see [Minority.Take] for later ones. Rules, faults of the network and pauses
// apply to both sides. All other methods of Server are about the majority. There may be
// several minorities.
//
// The election takes no time, which is the worst case for clients on the minority. For
// a longer one, refuse the connections of the majority's clients for a while, and then
// start the new leader's clocks with [Server.Restart]. One difference remains: on a
// real server the requests that a session sends over further connections wait behind
// its uncommitted write, too.
func (s *Server) Split(clients ...string) *Minority {
	s.mu.Lock()
	m := &Minority{server: s, replica: newReplica(), sessions: map[int64]*session{}}
	m.replica.tree, m.replica.zxid = s.main.tree.clone(), s.main.zxid
	for id, x := range s.sessions {
		known := *x
		known.conn = nil
		m.sessions[id] = &known
	}
	s.minorities = append(s.minorities, m)
	var missed []firing
	for _, client := range clients {
		if r := s.lagging[client]; r != nil { // its missed events are from before the split
			missed = append(missed, r.catchUp()...)
		}
	}
	events := s.queueLocked(missed)
	for _, c := range slices.Clone(s.conns) {
		if c.minority == nil && slices.Contains(clients, c.client) {
			m.keepLocked(c)
		}
	}
	for _, client := range clients {
		s.assignLocked(client, m)
	}
	s.restartClocksLocked()
	s.mu.Unlock()
	for _, e := range events {
		s.release(e, Call{})
	}
	return m
}

// Take moves a client to the minority. Its connections to the other side end. A client
// may be moved several times; the minority stays as of the split.
func (m *Minority) Take(client string) {
	s := m.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.minorities, m) {
		s.assignLocked(client, m)
	}
}

// Return moves a client from the minority to the majority. Its connections to the
// minority end.
func (m *Minority) Return(client string) {
	s := m.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cutOff[client] == m {
		s.assignLocked(client, nil)
	}
}

// End ends the minority. Its connections end, and its clients reach the majority. After
// that its methods do nothing.
func (m *Minority) End() {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	m.endLocked()
}

func (m *Minority) endLocked() {
	s := m.server
	for _, client := range s.reachingLocked(m) {
		s.assignLocked(client, nil)
	}
	s.minorities = slices.DeleteFunc(s.minorities, func(x *Minority) bool { return x == m })
}

// keepLocked moves an open connection from the majority to the minority.
func (m *Minority) keepLocked(c *conn) {
	c.replica.move(c, m.replica)
	c.replica, c.minority = m.replica, m
	x := c.session
	if x == nil || x.conn != c {
		return
	}
	if known := m.sessions[x.id]; known != nil { // else the session was closed, and the reply is on its way
		x.conn, known.conn, c.session = nil, c, known
	}
}

// assignLocked assigns a client to a minority, or to the majority if to is nil, and
// ends its connections to the other side.
func (s *Server) assignLocked(client string, to *Minority) {
	if s.cutOff[client] = to; to == nil {
		delete(s.cutOff, client)
	}
	for _, c := range slices.Clone(s.conns) {
		if c.client == client && c.minority != to {
			c.detachLocked()
		}
	}
}

// reachingLocked returns the clients that reach a minority.
func (s *Server) reachingLocked(m *Minority) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.cutOff)), func(client string) bool { return s.cutOff[client] != m })
}

// needsQuorum reports whether a request has to be committed.
func needsQuorum(op Op) bool {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpSetACL, OpMulti, OpCheck, OpReconfig, OpClose:
		return true
	}
	return false
}

// hangLocked makes a connection wait for a commit that never comes. Earlier answers are
// still sent.
func (s *Server) hangLocked(c *conn, r request) {
	c.mute = true
	e := Event{Client: c.client, Op: r.op, Path: r.path, Phase: PhaseBeforeApply, Zxid: c.replica.zxid, Minority: true}
	if r.op == OpConnect {
		e.Phase = PhaseConnect
	}
	if c.session != nil {
		e.Session = c.session.id
	}
	s.recordLocked(e)
}
