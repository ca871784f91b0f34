package zktest

import "github.com/zkrecipes/zkrecipes/internal/jute"

// multiPart is one request within a multi.
type multiPart struct {
	op      Op // the kind that the reply names
	create  createRequest
	path    string
	data    []byte
	version int32
}

// readMulti reads the parts of a multi, or of a multiRead if reading is set. The two
// kinds of parts cannot be mixed.
func readMulti(d *jute.Decoder, reading bool) ([]multiPart, Code) {
	var parts []multiPart
	for {
		h := d.MultiHeader()
		if d.Err() != nil {
			return nil, MarshallingError
		}
		if h.Done {
			return parts, OK
		}
		part := multiPart{op: Op(h.Type)}
		switch part.op {
		case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
			part.create = readCreate(part.op, d)
			part.op = multiCreateKind(part.create)
			if part.op == OpCreateTTL && part.create.op != OpCreateTTL {
				return nil, MarshallingError
			}
			part.create.op = part.op
		case OpDelete, OpCheck:
			part.path, part.version = d.String(), d.Int32()
		case OpSetData:
			part.path, part.data, part.version = d.String(), d.Buffer(), d.Int32()
		case OpGetData, OpGetChildren:
			part.path = d.String()
			d.Bool()
		default:
			return nil, MarshallingError
		}
		if d.Err() != nil || reading != (part.op == OpGetData || part.op == OpGetChildren) {
			return nil, MarshallingError
		}
		parts = append(parts, part)
	}
}

// multiCreateKind returns the real kind of a create in a multi. Its flags decide, not
// its number, so a create2 is answered like a create.
func multiCreateKind(r createRequest) Op {
	switch r.flags {
	case flagContainer:
		return OpCreateContainer
	case flagTTL, flagPersistentSequentTTL:
		return OpCreateTTL
	}
	return OpCreate
}

// answeredAs is the kind that the reply names: create2 if it carries a Stat, whatever
// the request was.
func (m *multiPart) answeredAs() Op {
	if m.op == OpCreateContainer || m.op == OpCreateTTL {
		return OpCreate2
	}
	return m.op
}

// partResult is the result of one part of a multi.
type partResult struct {
	op   Op
	code Code
	body func(*jute.Encoder)
}

// multiLocked applies all parts of a multi or none.
func (s *Server) multiLocked(c *conn, r request) result {
	p := s.preparerLocked(c)
	t := commit{zxid: p.zxid}
	parts, code := readMulti(jute.NewDecoder(r.body), false)
	if code != OK {
		return result{code: code, zxid: p.zxid, events: s.finishLocked(c, t)}
	}
	results, changes, failed := s.tryLocked(p, parts)
	if !failed {
		t.changes = changes
	}
	return result{zxid: p.zxid, events: s.finishLocked(c, t), body: multiReply(results)}
}

// tryLocked finds the results of a multi. Each part must see the changes of the parts
// before it, so the changes are really made, and then undone. The commit makes them
// again and triggers the watches.
func (s *Server) tryLocked(p *preparer, parts []multiPart) (results []partResult, changes []change, failed bool) {
	var undos []undo
	for i, part := range parts {
		step, changing, err := p.part(part)
		if err != nil {
			failed = true
			results = failedParts(len(parts), i, codeOf(err))
			break
		}
		if changing {
			undos = append(undos, p.tree.apply(&step))
			changes = append(changes, step)
		}
		results = append(results, partResult{op: part.answeredAs(), body: s.partReplyLocked(part.op, step.path)})
	}
	for i := len(undos) - 1; i >= 0; i-- {
		p.tree.revert(undos[i])
	}
	return results, changes, failed
}

// part checks one part. changing is false for a check.
func (p *preparer) part(part multiPart) (step change, changing bool, err error) {
	switch part.op {
	case OpCheck:
		return change{}, false, p.check(part.path, part.version)
	case OpDelete:
		step, err = p.remove(part.path, part.version)
	case OpSetData:
		step, err = p.setData(part.path, part.data, part.version)
	default:
		step, err = p.create(part.create)
	}
	return step, true, err
}

func (s *Server) partReplyLocked(op Op, path string) func(*jute.Encoder) {
	if op == OpCheck {
		return nil
	}
	return s.writeReplyLocked(op, path)
}

// failedParts are the results if part number bad failed: the parts before it would have
// succeeded, those after it were not checked.
func failedParts(n, bad int, code Code) []partResult {
	results := make([]partResult, n)
	for i := range results {
		results[i].op = opError
		switch {
		case i == bad:
			results[i].code = code
		case i > bad:
			results[i].code = RuntimeInconsistency
		}
	}
	return results
}

// multiReply encodes the results of the parts.
func multiReply(results []partResult) func(*jute.Encoder) {
	return func(e *jute.Encoder) {
		for _, r := range results {
			e.MultiHeader(jute.MultiHeader{Type: int32(r.op), Err: int32(r.code)})
			if r.op == opError {
				e.Int32(int32(r.code))
			}
			if r.body != nil {
				r.body(e)
			}
		}
		e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
	}
}
