package zktest

import (
	"time"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// handle handles one request and reports whether the connection goes on.
func (c *conn) handle(frame []byte) bool {
	r, err := parseRequest(frame)
	if err != nil {
		return false
	}
	s := c.server
	call := Call{Client: c.client, Op: r.op, Path: r.path, Watch: r.set, Phase: PhaseBeforeApply}
	s.mu.Lock()
	if c.session != nil {
		call.Session = c.session.id
	}
	s.mu.Unlock()
	proceed, refusal := c.before(&call)
	if !proceed {
		return !c.ended()
	}
	p, events, ok := s.perform(c, r, refusal)
	for _, e := range events {
		s.release(e, call)
	}
	if p != nil && p.held {
		c.after(call, p)
	}
	return ok
}

// delivery is an event in a connection's queue.
type delivery struct {
	firing
	parcel *parcel
}

// perform applies a request and queues the events and the reply, in one step for all
// other requests. p is nil if there is no reply. ok is false if no more requests are to
// be read.
func (s *Server) perform(c *conn, r request, refusal Code) (p *parcel, events []delivery, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return nil, nil, false
	}
	if c.session != nil {
		s.touchLocked(c.session)
	}
	var res result
	if refusal != OK {
		res = s.failLocked(c, refusal)
	} else {
		res = s.applyLocked(c, r)
	}
	if res.never {
		s.hangLocked(c, r)
		return nil, nil, true
	}
	s.countLocked(c, r, &res)
	events = s.queueLocked(res.events)
	if res.silent {
		return nil, events, false
	}
	p = &parcel{frame: res.reply(r.xid), last: res.closes, held: s.faults.armed()}
	c.out.put(p)
	c.lastQueued = p.last
	return p, events, !p.last
}

// queueLocked puts events into the queues of their connections. If faults may act on
// them they are held there; then release must be called for each.
func (s *Server) queueLocked(events []firing) []delivery {
	held := s.faults.armed()
	var out []delivery
	for _, f := range events {
		p := &parcel{frame: f.notification(), held: held}
		f.conn.out.put(p)
		if held {
			out = append(out, delivery{f, p})
		}
	}
	return out
}

// countLocked counts and traces a request that was applied.
func (s *Server) countLocked(c *conn, r request, res *result) {
	s.counts[countKey{"", r.op}]++
	s.counts[countKey{c.client, r.op}]++
	e := Event{
		Client: c.client, Op: r.op, Path: r.path, Watch: r.set, Phase: PhaseAfterApply, Code: res.code, Zxid: res.zxid,
		Minority: c.minority != nil,
	}
	if c.session != nil {
		e.Session = c.session.id
	}
	s.recordLocked(e)
	s.armReaperLocked()
}

// before lets faults act before a request is applied. proceed is false if the request
// must not be applied; else refusal is the error to answer with, or OK.
func (c *conn) before(call *Call) (proceed bool, refusal Code) {
	s := c.server
	act := s.ask(*call)
	switch act.kind() {
	case kindDelay:
		return c.sleep(act.delay()) && s.stepUnless(c.ended, c.key), OK
	case kindFail:
		return true, act.code()
	case kindCut:
		c.cut()
	case kindMute:
		c.silence()
	case kindExpire:
		s.ExpireSession(call.Session)
		c.cut()
	case kindDropReply:
	default:
		return true, OK
	}
	return false, OK
}

// after lets faults act after a request was applied. Its reply p is held.
func (c *conn) after(call Call, p *parcel) {
	call.Phase = PhaseAfterApply
	s := c.server
	act := s.ask(call)
	switch act.kind() {
	case kindCut:
		c.cut()
	case kindMute:
		c.silence()
	case kindExpire:
		s.ExpireSession(call.Session)
		c.cut()
	}
	c.out.decide(p, func(p *parcel) { act.decide(p) })
}

// release lets faults act on an event that is held, and then sends or drops it.
func (s *Server) release(e delivery, cause Call) {
	call := Call{Client: e.conn.client, Op: cause.Op, Path: e.path, Phase: PhaseEvent}
	s.mu.Lock()
	if e.conn.session != nil {
		call.Session = e.conn.session.id
	}
	s.mu.Unlock()
	act := s.ask(call)
	switch act.kind() {
	case kindCut:
		e.conn.cut()
	case kindMute:
		e.conn.silence()
	case kindExpire:
		s.ExpireSession(call.Session)
	case kindFail:
		act = Pass // an event has no result
	}
	e.conn.out.decide(e.parcel, func(p *parcel) { act.decide(p) })
}

// decide applies an action to a parcel that was held.
func (a Action) decide(p *parcel) {
	p.held = false
	switch a.kind() {
	case kindDelay:
		p.after = time.Now().Add(a.delay())
	case kindFail:
		p.fail(a.code())
	case kindDropReply, kindMute, kindCut, kindExpire:
		p.dropped = true
	}
}

// fail makes a reply say that the request failed, also if it was applied.
func (p *parcel) fail(code Code) {
	d := jute.NewDecoder(p.frame[4:])
	e := jute.NewFrame(16)
	e.Int32(d.Int32())
	e.Int64(d.Int64())
	e.Int32(int32(code))
	if d.Err() == nil {
		p.frame = e.Frame()
	}
}
