package zktest

import (
	"container/heap"
	"maps"
	"slices"
	"time"
)

// runClock is the goroutine that expires sessions and reaps nodes. It sleeps until
// something can be due. Without sessions and nodes to reap it has no timer: a timer
// that fires for nothing would keep a bubble of virtual time busy. It ends with Close.
func (s *Server) runClock() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Stop()
		s.mu.Lock()
		s.wakeAt = s.dueLocked()
		at := s.wakeAt
		s.mu.Unlock()
		if !at.IsZero() {
			timer.Reset(time.Until(at))
		}
		select {
		case <-s.done:
			return
		case <-s.kick:
		case <-timer.C:
			s.tick(time.Now())
		}
	}
}

// dueLocked returns the earliest time at which something can be due, zero for never.
func (s *Server) dueLocked() time.Time {
	if s.paused {
		return time.Time{} // Resume checks by itself
	}
	due := s.reapAt
	if len(s.alarms) > 0 && (due.IsZero() || s.alarms[0].at.Before(due)) {
		due = s.alarms[0].at
	}
	return due
}

// alarm is a time at which a session may have to be expired. A living session has at
// least one, at its deadline or before. Requests that move the deadline do not touch
// the heap; the new deadline is noticed when the alarm goes off.
type alarm struct {
	at time.Time
	id int64
}

// alarms is a heap, earliest first.
type alarms []alarm

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)        { *a = append(*a, x.(alarm)) }

func (a *alarms) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// watchSessionLocked makes the clock check a session at its deadline.
func (s *Server) watchSessionLocked(x *session) {
	heap.Push(&s.alarms, alarm{x.deadline, x.id})
	s.kickLocked(x.deadline)
}

// overdueLocked returns the sessions whose alarm has gone off and whose deadline has
// passed, oldest first.
func (s *Server) overdueLocked(now time.Time) []int64 {
	var overdue []int64
	for !s.paused && len(s.alarms) > 0 && !s.alarms[0].at.After(now) {
		id := heap.Pop(&s.alarms).(alarm).id
		switch x := s.sessions[id]; {
		case x == nil:
		case x.deadline.After(now):
			heap.Push(&s.alarms, alarm{x.deadline, id})
		default:
			overdue = append(overdue, id)
		}
	}
	slices.Sort(overdue)
	return slices.Compact(overdue)
}

// kickLocked wakes the clock if it would sleep past a time.
func (s *Server) kickLocked(t time.Time) {
	if s.wakeAt.IsZero() || t.Before(s.wakeAt) {
		s.wakeAt = t
		select {
		case s.kick <- struct{}{}:
		default:
		}
	}
}

// tick does what is due.
func (s *Server) tick(now time.Time) {
	s.mu.Lock()
	overdue := s.overdueLocked(now)
	reap := !s.paused && !s.reapAt.IsZero() && !now.Before(s.reapAt)
	s.mu.Unlock()
	for _, id := range overdue {
		s.expireOverdue(id)
	}
	if reap && s.step("~reaper") {
		s.reap()
	}
}

// expireOverdue expires a session whose deadline has passed, unless a fault grants it
// more time or a request came meanwhile.
func (s *Server) expireOverdue(id int64) {
	if !s.step(sessionKey(id)) {
		return
	}
	s.mu.Lock()
	x := s.sessions[id]
	if x == nil {
		s.mu.Unlock()
		return
	}
	if s.paused || x.deadline.After(time.Now()) {
		s.watchSessionLocked(x)
		s.mu.Unlock()
		return
	}
	client := x.client
	s.mu.Unlock()
	act := s.ask(Call{Client: client, Session: id, Op: OpClose, Phase: PhaseExpire})
	if act.kind() == kindDelay {
		s.mu.Lock()
		x.deadline = time.Now().Add(act.delay())
		s.watchSessionLocked(x)
		s.mu.Unlock()
		return
	}
	s.expire(id)
}

// armReaperLocked makes the reaper run at the next interval if there are nodes that it
// might delete some day.
func (s *Server) armReaperLocked() {
	if s.reapAt.IsZero() && len(s.main.tree.reapable) > 0 {
		s.reapAt = time.Now().Add(s.cfg.reapInterval)
		s.kickLocked(s.reapAt)
	}
}

// reap deletes containers that have lost all their children, and nodes whose time to
// live is over. As on a real server a container that never had a child stays.
func (s *Server) reap() {
	s.mu.Lock()
	s.reapAt = time.Time{}
	now := s.nowLocked()
	var events []delivery
	for _, path := range slices.Sorted(maps.Keys(s.main.tree.reapable)) {
		n := s.main.tree.get(path)
		if len(n.children) > 0 || n.kind == container && n.stat.Cversion == 0 || n.kind == ttl && now-n.stat.Mtime <= n.ttl {
			continue
		}
		t := commit{zxid: s.nextZxidLocked()}
		t.changes = []change{{kind: removeNode, path: path, zxid: t.zxid, time: now}}
		events = append(events, s.queueLocked(s.commitLocked(t))...)
		s.recordLocked(Event{Op: OpDeleteContainer, Path: path, Phase: PhaseAfterApply, Zxid: t.zxid})
	}
	s.armReaperLocked()
	s.mu.Unlock()
	for _, e := range events {
		s.release(e, Call{Op: OpDeleteContainer})
	}
}
