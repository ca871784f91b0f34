package zktest

import (
	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// preparerLocked returns the preparer for the writes of one request, with a new
// transaction number.
func (s *Server) preparerLocked(c *conn) *preparer {
	p := &preparer{
		tree: s.main.tree, ids: c.auth, zxid: s.nextZxidLocked(), time: s.nowLocked(), noTTL: s.cfg.noTTL, wrap: s.cfg.wrap,
	}
	if c.session != nil {
		p.session = c.session.id
	}
	return p
}

// finishLocked commits the result of a write, and brings the client's replica up to
// date. A failed write is an empty transaction.
func (s *Server) finishLocked(c *conn, t commit) []firing {
	events := s.commitLocked(t)
	return append(events, c.replica.catchUp()...)
}

// writeLocked handles a single write.
func (s *Server) writeLocked(c *conn, r request) result {
	p := s.preparerLocked(c)
	d := jute.NewDecoder(r.body)
	step, err := prepareOne(p, r.op, d)
	t := commit{zxid: p.zxid}
	if err == nil {
		t.changes = []change{step}
	}
	res := result{code: codeOf(err), events: s.finishLocked(c, t), zxid: p.zxid}
	if err == nil {
		res.body = s.writeReplyLocked(r.op, step.path)
	}
	return res
}

// prepareOne reads one write and checks it.
func prepareOne(p *preparer, op Op, d *jute.Decoder) (change, error) {
	switch op {
	case OpDelete:
		path, version := d.String(), d.Int32()
		if d.Err() != nil {
			return change{}, d.Err()
		}
		return p.remove(path, version)
	case OpSetData:
		path, data, version := d.String(), d.Buffer(), d.Int32()
		if d.Err() != nil {
			return change{}, d.Err()
		}
		return p.setData(path, data, version)
	case OpSetACL:
		path, acl, version := d.String(), d.ACLs(), d.Int32()
		if d.Err() != nil {
			return change{}, d.Err()
		}
		return p.setACL(path, acl, version)
	}
	req := readCreate(op, d)
	if d.Err() != nil {
		return change{}, d.Err()
	}
	return p.create(req)
}

// readCreate reads a create of any kind.
func readCreate(op Op, d *jute.Decoder) createRequest {
	r := createRequest{op: op, path: d.String(), data: d.Buffer(), acl: d.ACLs(), flags: d.Int32(), ttl: -1}
	if op == OpCreateTTL {
		r.ttl = d.Int64()
	}
	return r
}

// writeReplyLocked returns the encoder of the body of a write's reply. It reads the
// tree at once.
func (s *Server) writeReplyLocked(op Op, path string) func(*jute.Encoder) {
	switch op {
	case OpDelete:
		return nil
	case OpCreate:
		return func(e *jute.Encoder) { e.String(path) }
	}
	stat := s.main.tree.get(path).clientStat()
	if op == OpSetData || op == OpSetACL {
		return func(e *jute.Encoder) { e.Stat(&stat) }
	}
	return func(e *jute.Encoder) { e.String(path); e.Stat(&stat) }
}

// syncLocked brings the client's replica up to date.
func (s *Server) syncLocked(c *conn, r request) result {
	d := jute.NewDecoder(r.body)
	path := d.String()
	if d.Err() != nil {
		return s.failLocked(c, MarshallingError)
	}
	events := c.replica.catchUp()
	return result{zxid: c.replica.zxid, events: events, body: func(e *jute.Encoder) { e.String(path) }}
}

// reconfigLocked refuses to change the ensemble, as a real server does without
// reconfigEnabled. The request takes a transaction number, as there.
func (s *Server) reconfigLocked(c *conn, r request) result {
	d := jute.NewDecoder(r.body)
	_, _, _, _ = d.String(), d.String(), d.String(), d.Int64() // joining, leaving, all members, configuration version
	if d.Err() != nil {
		return s.failLocked(c, MarshallingError)
	}
	t := commit{zxid: s.nextZxidLocked()}
	return result{code: ReconfigDisabled, events: s.finishLocked(c, t), zxid: t.zxid}
}

// authLocked adds an identity to a connection, or ends the connection. The replies
// carry no transaction number.
func (s *Server) authLocked(c *conn, r request) result {
	d := jute.NewDecoder(r.body)
	_, scheme, credentials := d.Int32(), d.String(), d.Buffer()
	if d.Err() != nil {
		return result{silent: true}
	}
	id := jute.ID{Scheme: scheme}
	switch scheme {
	case "digest":
		id.ID = digest(string(credentials))
	case "ip":
		id.ID = c.address
	default:
		return result{code: AuthFailed, closes: true}
	}
	for _, known := range c.auth {
		if known == id {
			return result{}
		}
	}
	c.auth = append(c.auth[:len(c.auth):len(c.auth)], id)
	return result{}
}
