package zktest

import (
	"maps"
	"slices"
	"time"
)

// session is one client session. All of it is guarded by the server's mutex.
type session struct {
	id       int64
	timeout  time.Duration
	client   string    // the last client
	conn     *conn     // nil while disconnected
	deadline time.Time // when it expires if no request comes before
}

// touchLocked gives the session its whole timeout again. The clock notices when the old
// deadline comes.
func (s *Server) touchLocked(x *session) {
	x.deadline = time.Now().Add(x.timeout)
}

// restartClocksLocked gives every session its whole timeout again, as a new leader
// does.
func (s *Server) restartClocksLocked() {
	for _, x := range s.sessions {
		s.touchLocked(x)
	}
}

// endSessionLocked ends a session and deletes its ephemeral nodes in one transaction.
// It returns the events.
func (s *Server) endSessionLocked(x *session) (zxid int64, events []firing) {
	delete(s.sessions, x.id)
	t := commit{zxid: s.nextZxidLocked()}
	now := s.nowLocked()
	for _, path := range s.main.tree.owned(x.id) {
		t.changes = append(t.changes, change{kind: removeNode, path: path, zxid: t.zxid, time: now})
	}
	return t.zxid, s.commitLocked(t)
}

// closeSessionLocked handles a client's request to close its session. The connection
// ends with the reply.
func (s *Server) closeSessionLocked(c *conn) result {
	if c.session == nil {
		return result{silent: true}
	}
	zxid, events := s.endSessionLocked(c.session)
	events = append(events, c.replica.catchUp()...)
	res := result{zxid: zxid, events: events, closes: true}
	c.session.conn = nil
	return res
}

// expire ends a session and its connection. It reports whether there was such a
// session.
func (s *Server) expire(id int64) bool {
	s.mu.Lock()
	x := s.sessions[id]
	if x == nil {
		s.mu.Unlock()
		return false
	}
	zxid, events := s.endSessionLocked(x)
	held := s.queueLocked(events)
	s.recordLocked(Event{Client: x.client, Session: id, Op: OpClose, Phase: PhaseExpire, Zxid: zxid})
	if x.conn != nil {
		x.conn.detachLocked()
	}
	s.mu.Unlock()
	for _, e := range held {
		s.release(e, Call{Op: OpClose})
	}
	return true
}

// sessionIDsLocked returns the ids of all sessions, oldest first.
func (s *Server) sessionIDsLocked() []int64 {
	return slices.Sorted(maps.Keys(s.sessions))
}
