package zktest

import (
	"maps"
	"slices"
)

// Minority is the side of a split server that has lost its quorum and does not know. It
// is made by [Server.Split]. Its methods may be called concurrently.
type Minority struct {
	server   *Server
	replica  *replica           // as of the split, and for ever
	sessions map[int64]*session // copies as of the split: what is heard from a session here the majority never learns
}

// Split parts the server in two, as when a leader is cut off from its quorum, or was
// frozen, for so long that the others have elected another. Whom a client reaches is a
// matter of its name.
//
// The majority is the Server as it goes on. Its new leader has a clock of its own:
// every session has its whole timeout again from now on.
//
// The minority is the old leader, as of now. For as long as the test likes it answers
// reads, from a tree that does not change, syncs, pings and whatever concerns the
// connection alone, and revalidates every session it knows, also one that the majority
// has long expired. It commits nothing: a write, a transaction even if it only checks,
// the end of a session and the wish for a new one are never answered, nor is what comes
// after them on the connection; and they never happen, not even after [Minority.End]. A
// client that has seen later transactions it turns away, and one whose session is
// younger than the split it tells that the session has expired. No session ends there,
// and nothing that is heard there keeps one alive on the majority.
//
// The clients named are on the minority from now on, with their connections and
// watches; see [Minority.Take] for others. All other methods, such as [Server.Sessions]
// and [Server.ExpireSession], are about the majority; only faults, links and pauses
// concern both. Several minorities may exist at once.
//
// The majority loses no time over its election, which is the worst case for a client on
// the minority. For another, refuse the connections of the majority's clients for a
// while and then call [Server.Restart], with which the reign begins anew. On a real
// server what a session sends over further connections waits behind its uncommitted
// write, too.
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
		if r := s.lagging[client]; r != nil { // what it is to hear of has happened before the split
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
	s.reignLocked()
	s.mu.Unlock()
	for _, e := range events {
		s.release(e, Call{})
	}
	return m
}

// Take puts a client on the minority. Its connections to where it was before end. It
// may be given back and taken again, and finds the minority as it was at the split.
func (m *Minority) Take(client string) {
	s := m.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.minorities, m) {
		s.assignLocked(client, m)
	}
}

// Return puts a client that is on the minority back on the majority. Its connections to
// the minority end.
func (m *Minority) Return(client string) {
	s := m.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cutOff[client] == m {
		s.assignLocked(client, nil)
	}
}

// End makes the server whole: the minority is no more, its connections end, and its
// clients reach the majority. Further calls, of any method, do nothing.
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

// keepLocked moves a connection from the majority to the minority without its end.
func (m *Minority) keepLocked(c *conn) {
	c.replica.move(c, m.replica)
	c.replica, c.minority = m.replica, m
	x := c.session
	if x == nil || x.conn != c {
		return
	}
	if known := m.sessions[x.id]; known != nil { // else it was closed, and the reply is on its way
		x.conn, known.conn, c.session = nil, c, known
	}
}

// assignLocked makes a client reach a minority, or the majority if to is nil, and ends
// its connections to elsewhere.
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

// needsQuorum tells whether a request has to be committed.
func needsQuorum(op Op) bool {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpSetACL, OpMulti, OpCheck, OpReconfig, OpClose:
		return true
	}
	return false
}

// hangLocked makes a connection wait for a commit that never comes. What was answered
// before it is still sent.
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
