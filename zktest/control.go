package zktest

import (
	"slices"
	"time"
)

// link is the state of the network between the server and one client.
type link struct {
	refused     bool // new connections are refused
	partitioned bool // bytes are dropped
	stalled     bool // bytes wait
}

// blocked reports whether nothing passes.
func (l link) blocked() bool { return l.partitioned || l.stalled }

// linkLocked returns the state of a client's link: that for all clients combined with
// its own.
func (s *Server) linkLocked(client string) link {
	all, own := s.links[""], s.links[client]
	return link{all.refused || own.refused, all.partitioned || own.partitioned, all.stalled || own.stalled}
}

// changedLocked wakes all goroutines that wait for a link or for the end of a pause.
func (s *Server) changedLocked() {
	close(s.linkChanged)
	s.linkChanged = make(chan struct{})
}

// alterLink changes the state of a link ("" means all clients).
func (s *Server) alterLink(client string, change func(l *link)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.links[client]
	change(&l)
	s.links[client] = l
	for _, c := range slices.Clone(s.conns) {
		if c.doomed && !s.linkLocked(c.client).partitioned {
			c.detachLocked()
		}
	}
	s.closeLingeringLocked()
	s.changedLocked()
}

// closeLingeringLocked closes the sockets whose end the client may see now.
func (s *Server) closeLingeringLocked() {
	s.lingering = slices.DeleteFunc(s.lingering, func(c *conn) bool {
		if s.linkLocked(c.client).blocked() {
			return false
		}
		_ = c.nc.Close()
		return true
	})
}

// blocked reports whether frames to and from a connection have to wait, or are dropped.
func (s *Server) blocked(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused || s.linkLocked(c.client).blocked()
}

// awaitLink waits until frames may pass between the server and a connection. open is
// false if the connection ended meanwhile. dropped is true if the frame is dropped on
// the way.
func (s *Server) awaitLink(c *conn) (open, dropped bool) {
	for {
		s.mu.Lock()
		l, changed, ended := s.linkLocked(c.client), s.linkChanged, c.closed
		held := s.paused || l.stalled
		if l.partitioned {
			c.doomed = true
		}
		s.mu.Unlock()
		switch {
		case ended:
			return false, false
		case l.partitioned:
			return true, true
		case !held:
			return true, false
		}
		select {
		case <-changed:
		case <-c.done:
		}
	}
}

// awaitHeal waits until the server can see what the client did with its end of the
// connection.
func (c *conn) awaitHeal() {
	s := c.server
	for {
		s.mu.Lock()
		blind := !c.closed && (s.paused || s.linkLocked(c.client).blocked())
		changed := s.linkChanged
		s.mu.Unlock()
		if !blind {
			return
		}
		select {
		case <-changed:
		case <-c.done:
		}
	}
}

// RefuseConnections makes the server refuse new connections of a client, "" for all.
// Present ones stay. Over TCP only dial functions of [Server.Dial] return a refusal;
// other clients find their new connection closed at once.
func (s *Server) RefuseConnections(client string, on bool) {
	s.alterLink(client, func(l *link) { l.refused = on })
}

// Partition drops all bytes between the server and a client, "" for all, without an
// error on either side. Dialing blocks until its context or the partition ends. When
// the partition ends, connections on which bytes were dropped are closed.
func (s *Server) Partition(client string, on bool) {
	s.alterLink(client, func(l *link) { l.partitioned = on })
}

// Stall is like Partition, but bytes are delayed until the stall ends, and none are
// dropped. The requests of a client that has given up the connection meanwhile still
// take effect then, unless the client has resumed its session elsewhere before.
func (s *Server) Stall(client string, on bool) {
	s.alterLink(client, func(l *link) { l.stalled = on })
}

// DropConnections breaks all connections of a client, "" for all. Sessions live on.
func (s *Server) DropConnections(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(func(c *conn) bool { return client == "" || c.client == client })
}

func (s *Server) dropLocked(which func(c *conn) bool) {
	for _, c := range slices.Clone(s.conns) {
		if which(c) {
			c.detachLocked()
			_ = c.nc.Close()
		}
	}
}

// ExpireSession expires a session, and reports whether there was one with that id. When
// it returns, the session's ephemeral nodes are deleted and its connection is closed.
func (s *Server) ExpireSession(id int64) bool { return s.expire(id) }

// Pause stops the server as SIGSTOP would. Connections stay open and new ones are
// accepted, but nothing is read, answered or expired. Time goes on. See
// [Server.Resume].
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
	s.changedLocked()
}

// Resume ends a pause. A session from which a request has arrived meanwhile gets its
// whole timeout again; other sessions whose timeout has passed expire at once. (On a
// real server the two race.)
func (s *Server) Resume() {
	s.mu.Lock()
	if !s.paused {
		s.mu.Unlock()
		return
	}
	s.paused = false
	for _, c := range s.conns {
		if c.waiting && c.session != nil && !c.doomed {
			s.touchLocked(c.session)
		}
	}
	overdue := s.overdueLocked(time.Now())
	s.kickLocked(time.Now())
	s.changedLocked()
	s.mu.Unlock()
	for _, id := range overdue {
		s.expire(id)
	}
}

// Restart breaks all connections, as if the server process had been killed and started
// again. With keepState nodes and sessions survive, as on disk, and each session gets
// its whole timeout again. Without keepState all state is gone, and transaction numbers
// start again, so the server refuses clients that have seen later ones.
//
// A [Minority] is another process: with keepState it goes on, with its connections.
// Without keepState it ends.
func (s *Server) Restart(keepState bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(func(c *conn) bool { return c.minority == nil })
	if !keepState {
		for len(s.minorities) > 0 {
			s.minorities[0].endLocked()
		}
		s.main, s.lagging = newReplica(), map[string]*replica{}
		s.sessions, s.alarms, s.zxid = map[int64]*session{}, nil, 0
		return
	}
	s.restartClocksLocked()
	for _, r := range s.lagging {
		r.catchUp()
	}
}

// Lag makes a client read like one whose server is behind: it sees the changes of other
// clients, by reads and by watch events, only when it syncs or writes, or Lag is turned
// off. Then it sees all of them, in order, and falls behind again. Transaction numbers
// in its replies are old, too. Lag has no effect on a [Minority].
func (s *Server) Lag(client string, on bool) {
	s.mu.Lock()
	r := s.lagging[client]
	if on == (r != nil) {
		s.mu.Unlock()
		return
	}
	var events []delivery
	to := s.main
	if on {
		to = newReplica()
		to.tree, to.zxid = s.main.tree.clone(), s.main.zxid
		s.lagging[client] = to
	} else {
		events = s.queueLocked(r.catchUp())
		delete(s.lagging, client)
	}
	for _, c := range s.conns {
		if c.client == client && c.minority == nil {
			c.replica.move(c, to)
			c.replica = to
		}
	}
	s.mu.Unlock()
	for _, e := range events {
		s.release(e, Call{})
	}
}

// SetSequence sets the number of the next sequential node under a parent. It reports
// whether the parent exists. The number counts all nodes ever created there, of any
// kind.
func (s *Server) SetSequence(parent string, next int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.main.tree.get(parent)
	if n == nil {
		return false
	}
	n.stat.Cversion = next
	return true
}

// SetClock makes the clock that nodes get their times from (Ctime, Mtime) differ from
// the true one, as when a leader has a wrong clock: it is that far ahead, or behind if
// that is negative. Sessions and what Trace shows do not depend on it.
func (s *Server) SetClock(ahead time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = ahead
}

// nowLocked is the present time by the clock of SetClock, in milliseconds.
func (s *Server) nowLocked() int64 { return time.Now().Add(s.ahead).UnixMilli() }
