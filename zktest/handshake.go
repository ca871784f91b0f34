package zktest

import (
	"crypto/sha1"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// passwordLen is the length of a session's password in bytes.
const passwordLen = 16

// handshake handles the connect request and reports whether the connection goes on.
func (c *conn) handshake(frame []byte) bool {
	s := c.server
	d := jute.NewDecoder(frame)
	req := d.ConnectRequest()
	if d.Err() != nil {
		return false
	}
	call := Call{Client: c.client, Session: req.SessionID, Op: OpConnect, Phase: PhaseConnect}
	if !c.register(req.SessionID) {
		return false
	}
	proceed, refusal := c.before(&call)
	if !proceed {
		if c.ended() {
			return false
		}
		c.silence() // no request is valid before the answer to a connect
		return true
	}
	if refusal != OK {
		return false // the protocol has no error answer to a connect
	}
	p, ok := s.establish(c, &req, &call)
	if p != nil && p.held {
		c.after(call, p)
	}
	return ok
}

// register makes the handshake an event of the stepper, and then gives the connection
// its key. A client may open two connections at once, and it is chance which is
// accepted first; which session each asks for is not.
func (c *conn) register(session int64) bool {
	s := c.server
	if s.stepper == nil {
		return true
	}
	if !s.step(fmt.Sprintf("%s#connect%016x", c.client, session)) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.key = fmt.Sprintf("%s#%06d", c.client, s.clients[c.client])
	s.clients[c.client]++
	return true
}

// establish handles a connect request and queues its reply. ok is false if no requests
// are to be read from the connection. p is nil if there is no reply.
func (s *Server) establish(c *conn, req *jute.ConnectRequest, call *Call) (p *parcel, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return nil, false
	}
	if c.minority != nil && req.SessionID == 0 && req.LastZxidSeen <= c.replica.zxid {
		s.hangLocked(c, request{op: OpConnect})
		return nil, true
	}
	reply, ok := s.connectLocked(c, req)
	s.counts[countKey{"", OpConnect}]++
	s.counts[countKey{c.client, OpConnect}]++
	if !ok {
		return nil, false
	}
	p = &parcel{frame: reply, last: c.session == nil, held: s.faults.armed()}
	c.lastQueued = p.last
	c.out.put(p)
	e := Event{Client: c.client, Session: call.Session, Op: OpConnect, Phase: PhaseAfterApply, Zxid: s.zxid, Code: SessionExpired}
	if c.minority != nil {
		e.Minority, e.Zxid = true, c.replica.zxid
	}
	if c.session != nil {
		call.Session = c.session.id
		e.Session, e.Code = c.session.id, OK
	}
	s.recordLocked(e)
	return p, !p.last
}

// connectLocked opens or resumes a session. If ok is false the connection is closed
// without a reply. If there is no session afterwards, the reply says that the session
// has expired.
func (s *Server) connectLocked(c *conn, req *jute.ConnectRequest) (reply []byte, ok bool) {
	if req.LastZxidSeen > c.replica.zxid {
		return nil, false // the client has seen later transactions than this server
	}
	timeout := min(max(time.Duration(req.TimeOut)*time.Millisecond, s.cfg.minTimeout), s.cfg.maxTimeout)
	if req.SessionID == 0 {
		s.openSessionLocked(c, timeout)
	} else {
		s.resumeSessionLocked(c, req, timeout)
	}
	e := jute.NewFrame(40)
	e.Int32(0)
	if c.session != nil {
		e.Int32(int32(c.session.timeout.Milliseconds()))
		e.Int64(c.session.id)
		e.Buffer(password(c.session.id))
	} else {
		e.Int32(0)
		e.Int64(0)
		e.Buffer(make([]byte, passwordLen))
	}
	if req.HasReadOnly {
		e.Bool(false)
	}
	return e.Frame(), true
}

// openSessionLocked gives the connection a new session. That is a transaction.
func (s *Server) openSessionLocked(c *conn, timeout time.Duration) {
	s.lastSession++
	x := &session{id: s.lastSession, timeout: timeout, client: c.client, conn: c}
	s.sessions[x.id] = x
	c.session = x
	s.touchLocked(x)
	s.commitLocked(commit{zxid: s.nextZxidLocked()}) // changes nothing, so there are no events
	s.watchSessionLocked(x)
}

// resumeSessionLocked moves an existing session to the connection. The session's former
// connection is closed, even if the password then is wrong, as by the real server.
func (s *Server) resumeSessionLocked(c *conn, req *jute.ConnectRequest, timeout time.Duration) {
	known := s.sessions
	if c.minority != nil {
		known = c.minority.sessions
	}
	x := known[req.SessionID]
	if x == nil {
		return
	}
	if x.conn != nil {
		x.conn.detachLocked()
	}
	if subtle.ConstantTimeCompare(req.Password, password(x.id)) != 1 {
		return
	}
	x.conn, x.timeout, x.client = c, timeout, c.client
	c.session = x
	s.touchLocked(x)
	if c.minority == nil { // no session ends on a minority
		s.watchSessionLocked(x) // the new timeout may be shorter
	}
}

// password returns the password of a session. It depends on the id only, so that runs
// repeat; nothing here is secret.
func password(id int64) []byte {
	var seed [8]byte
	binary.BigEndian.PutUint64(seed[:], uint64(id))
	sum := sha1.Sum(append([]byte("zktest session "), seed[:]...))
	return sum[:passwordLen]
}
