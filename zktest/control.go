package zktest

import (
	"slices"
	"time"
)

// link is the state of the network between the server and one client.
type link struct {
	refused     bool // new connections are refused
	partitioned bool // bytes are lost
	stalled     bool // bytes are held back
}

// severed tells whether nothing passes.
func (l link) severed() bool { return l.partitioned || l.stalled }

// linkLocked returns the state of a client's link, which is that for all clients and
// its own taken together.
func (s *Server) linkLocked(client string) link {
	all, own := s.links[""], s.links[client]
	return link{all.refused || own.refused, all.partitioned || own.partitioned, all.stalled || own.stalled}
}

// changedLocked wakes everybody who waits for a link or for the end of a pause.
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
	s.hangUpLingeringLocked()
	s.changedLocked()
}

// hangUpLingeringLocked closes the sockets whose end the client may now see.
func (s *Server) hangUpLingeringLocked() {
	s.lingering = slices.DeleteFunc(s.lingering, func(c *conn) bool {
		if s.linkLocked(c.client).severed() {
			return false
		}
		_ = c.nc.Close()
		return true
	})
}

// severed tells whether frames have to wait before they may pass between the server and
// a connection, or are lost.
func (s *Server) severed(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused || s.linkLocked(c.client).severed()
}

// awaitLink waits until frames may pass between the server and a connection. open is
// false if the connection ended meanwhile, lost is true if the frame at hand is lost on
// the way.
func (s *Server) awaitLink(c *conn) (open, lost bool) {
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

// awaitHeal waits until the server can see what the client did at its end of the
// connection.
func (c *conn) awaitHeal() {
	s := c.server
	for {
		s.mu.Lock()
		blind := !c.closed && (s.paused || s.linkLocked(c.client).severed())
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
// Existing ones are not touched. Over TCP only dial functions made by [Server.Dial] see
// a refusal; others see their connection closed at once.
func (s *Server) RefuseConnections(client string, on bool) {
	s.alterLink(client, func(l *link) { l.refused = on })
}

// Partition cuts a client, "" for all, off from the server without either noticing:
// what one sends is accepted and lost. Dialling hangs until its context ends or the
// partition heals. When it heals, the connections that lost something end, since their
// streams have a hole.
func (s *Server) Partition(client string, on bool) {
	s.alterLink(client, func(l *link) { l.partitioned = on })
}

// Stall is like Partition, but what is sent is only late, as on a network that repeats
// what it lost: it arrives when the stall ends. A client that has given up on its
// connection by then sees its requests take effect all the same, unless it has resumed
// its session elsewhere before.
func (s *Server) Stall(client string, on bool) {
	s.alterLink(client, func(l *link) { l.stalled = on })
}

// DropConnections ends all connections of a client, "" for all. Sessions live on.
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

// ExpireSession ends a session as if its time were up and tells whether there was such
// a session. Its ephemeral nodes are gone, and its connection closed, when it returns.
func (s *Server) ExpireSession(id int64) bool { return s.expire(id) }

// Pause stops the server as SIGSTOP would: connections stay and are accepted, nothing
// is read, answered or expired, but time goes on. See [Server.Resume].
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
	s.changedLocked()
}

// Resume ends a pause. Sessions from which a request has arrived meanwhile count as
// heard of now; the others are expired at once if their time is up. (On a real server
// the two race.)
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
	overdue := s.ringLocked(time.Now())
	s.kickLocked(time.Now())
	s.changedLocked()
	s.mu.Unlock()
	for _, id := range overdue {
		s.expire(id)
	}
}

// Restart ends all connections, as if the server process had been killed and started
// again. With keepState the tree and the sessions survive, as on disk, and every
// session has its whole timeout again. Without it everything is gone, and the
// transaction numbers begin anew, so that a client that has seen later ones is turned
// away.
//
// A [Minority] is another process: with keepState it stays as it is, and so do the
// connections to it. Without, it ends.
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
	s.reignLocked()
	for _, r := range s.lagging {
		r.catchUp()
	}
}

// Lag makes a client read like one whose server has fallen behind: it does not see what
// others do, neither in reads nor in watch events, until it asks for a sync, writes, or
// Lag is turned off. Then it sees all at once, in order, and falls behind again.
// Transaction numbers in its replies stay behind too. On a [Minority] it has no effect.
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

// SetSequence sets the number that the next sequential node under a parent will get,
// and tells whether there is such a parent. Numbers are the count of nodes ever created
// there, of any kind.
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
