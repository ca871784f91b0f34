package framework

import (
	"context"
	"time"
)

// The gate of a session is open while requests may be sent: from when the watches
// were set again, on the connection that is attached, until that breaks.

// attached is called when the library may send requests. They are let through
// at once, unless watches may have to be set again: then not before the server
// has answered that, so that nobody reads a change before the event for it. What
// is in the library's queue already is held back until that request is sent: the
// library reads the last zxid for it without a lock, and too late if an answer
// comes first.
func (s *Session) attached() {
	c := s.guard.live()
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := s.unsent > 0
	s.early = false
	if s.watching {
		s.unsent++ // also if the connection is gone: the library has not noticed
	}
	if c == nil {
		return
	}
	if !s.isFirstOver {
		s.isFirstOver = true
		close(s.first)
	}
	if !s.watching {
		s.settled = time.Now().Add(watchGrace)
	}
	switch {
	case !s.ready:
	case s.watching:
		// A connection that ended too soon has left its request in the queue, which comes first
		// now, perhaps while the library reads the zxid for the next.
		c.holdBack(stale)
		s.onePacket, s.restored = s.watch.bytes() < onePacket, false
		s.openAt = time.Now().Add(watchGrace)
		s.wake()
	default:
		s.setOpen(true)
	}
}

// watchGrace is how long to wait for the library to begin setting watches again.
// It has none to set if all have fired; there is no way to ask it.
const watchGrace = 20 * time.Millisecond

// settingWatches implements guardEvents.
func (s *Session) settingWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsent = max(s.unsent-1, 0)
}

// watchesRestored implements guardEvents.
func (s *Session) watchesRestored(ok bool) {
	if !ok { // nobody will hear of changes any more: let all look for themselves
		s.watch.fireAll(Event{Type: EventRecheck})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restored = ok
	switch {
	case s.openAt.IsZero():
	case s.onePacket:
		s.setOpen(true)
	default: // there may be more packets; the library sends one after the other
		s.openAt = time.Now().Add(watchGrace)
	}
}

// onePacket is a bound on the paths that the library sets watches on in one
// request; it splits at 128 KiB.
const onePacket = 100 << 10

// setOpen lets requests through, or no more. It reports whether that is a change,
// and needs s.mu.
func (s *Session) setOpen(open bool) bool {
	s.openAt = time.Time{}
	if open && (context.Cause(s.ctx) != nil || s.guard.live() == nil) {
		return false
	}
	if s.open == open {
		return false
	}
	s.open = open
	close(s.changed)
	s.changed = make(chan struct{})
	if open {
		s.unsent = 0
		s.down = make(chan struct{})
		s.guard.book.ready(s.guard.lastAddr())
		s.core.connected(s)
		s.wake() // supervise has something to ask on each connection
	} else {
		close(s.down)
		s.down = closedChannel
	}
	return true
}

// checkGate opens the gate when the library has had time to begin setting watches
// again, and has not or is done. It returns the time until it should look again.
func (s *Session) checkGate(now time.Time) time.Duration {
	c := s.guard.live()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch due := s.openAt; {
	case due.IsZero():
	case now.Before(due):
		return due.Sub(now)
	case c == nil: // the next attachment begins anew
		s.openAt = time.Time{}
	case c.settingWatches():
		return watchGrace
	default:
		s.openAt = time.Time{}
		restored := s.restored
		s.tasks.start(func() { s.openGate(c, restored) }) // writes, so not here
	}
	return time.Hour
}

// openGate lets requests through on a connection, those first that were held back.
func (s *Session) openGate(c *guardConn, restored bool) {
	c.sendHeld()
	if !restored {
		// The library has dropped its request to set watches, or had none to make.
		// Whoever waits looks for himself.
		s.watch.fireAll(Event{Type: EventRecheck})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard.live() == c {
		s.early = !restored && !s.onePacket
		s.setOpen(true)
	}
}
