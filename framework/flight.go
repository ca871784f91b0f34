package framework

import (
	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// A flight is a group that is sent, or a call that travels alone although it could have
// joined one. It implements guard.Request.
type flight struct {
	of      *groups
	deletes bool // it is the one that only deletes have
	lists   bool // it is listings
	members []member
	bytes   int       // of their operations
	one     [1]member // if it is one
}

// What a multi has besides its operations: before each, and at the end.
const groupHeader, groupEnd = 9, 9

// statBytes is the size of a Stat, which the result of a container has.
const statBytes = 6*8 + 5*4

// send returns false if the connection is gone.
func (f *flight) send() bool {
	if !f.place() {
		return false
	}
	f.follow()
	return true
}

// place gives it its place among the requests of the connection. It returns false if
// that is gone.
func (f *flight) place() bool {
	code, record := f.members[0].operation()
	switch {
	case f.lists:
		code, record = guard.OpMultiRead, f.record()
	case len(f.members) > 1:
		code, record = guard.OpMulti, f.record()
	}
	return f.of.conn.Send(code, record, f)
}

// follow sends what has to come behind its members.
func (f *flight) follow() {
	if len(f.members) > 1 && !f.lists {
		f.of.gather()
		defer f.of.sendListings()
	}
	for _, m := range f.members {
		m.follow(f.of.down)
	}
}

// take adds calls, as far as there is room for them, and returns those that are left.
// One always has room.
func (f *flight) take(from []member, most int) (left []member) {
	for len(from) > 0 && len(f.members) < most {
		code, record := from[0].operation()
		bytes := f.bytes + groupHeader + len(record)
		if code == guard.OpContainer {
			bytes += statBytes // other results are shorter than their operations
		}
		if guard.HeaderBytes+bytes+groupEnd > f.of.limit && len(f.members) > 0 {
			break
		}
		f.bytes = bytes
		f.members = append(f.members, from[0])
		from[0], from = nil, from[1:]
	}
	return from
}

// record is that of a multi, or of one that reads.
func (f *flight) record() []byte {
	e := jute.NewEncoder(f.bytes + groupEnd)
	for _, m := range f.members {
		code, record := m.operation()
		if f.lists {
			code = guard.OpGetChildren // without the Stat, or the server refuses it
		}
		e.MultiHeader(jute.MultiHeader{Type: code, Err: -1})
		e.Raw(record)
	}
	e.MultiHeader(jute.MultiHeader{Type: -1, Done: true, Err: -1})
	return e.Bytes()
}

// giveBack gives all members back: nothing was sent.
func (f *flight) giveBack() {
	for _, m := range f.members {
		m.giveBack()
	}
}

// Sent tells each member that it has its place.
func (f *flight) Sent() {
	for _, m := range f.members {
		m.Sent()
	}
}

// Answered gives each member its answer, or sends each again, alone.
func (f *flight) Answered(a guard.Answer) {
	if f.lists {
		f.listed(a)
		return
	}
	if len(f.members) == 1 {
		f.members[0].Answered(a)
	} else if each, refusing := f.answers(a); refusing == nil {
		f.answer(each)
	} else {
		f.repeat()
	}
	f.of.landed(f)
}

// answer gives each member its answer.
func (f *flight) answer(each []guard.Answer) {
	for i, m := range f.members {
		m.Answered(each[i])
	}
}

// repeat sends each again, alone.
func (f *flight) repeat() {
	for _, m := range f.members {
		f.of.aloneOrBack(m)
	}
}

// answers returns what the answer to a multi says of each member; or the one because of
// which it was refused, if that says nothing of the others.
func (f *flight) answers(a guard.Answer) (each []guard.Answer, refusing member) {
	each = make([]guard.Answer, len(f.members))
	all := func(a guard.Answer) ([]guard.Answer, member) {
		for i := range each {
			each[i] = a
		}
		return each, nil
	}
	if a.Err != nil || a.Code != 0 {
		return all(a)
	}
	d, undone := jute.NewDecoder(a.Body), false
	for i, m := range f.members {
		code, _ := m.operation()
		h := d.MultiHeader()
		each[i] = guard.Answer{Zxid: a.Zxid, Body: d.Rest()}
		switch {
		case h.Type == multiFailed:
			each[i].Code, undone = d.Int32(), true
		case code == guard.OpContainer && h.Type == guard.OpCreate2:
			_ = d.String()
			d.Stat()
		case h.Type != code:
			return all(guard.Answer{Err: guard.ErrMalformed})
		case code == guard.OpCreate:
			_ = d.String()
		}
		if failed := each[i]; failed.Code != 0 {
			if !isOfOne(failed.Code) {
				return all(failed)
			}
			f.blame(m, failed.Code)
			return nil, m
		}
	}
	if h := d.MultiHeader(); undone || !h.Done || d.Err() != nil {
		return all(guard.Answer{Err: guard.ErrMalformed})
	}
	return each, nil
}

// isOfOne reports whether an error is that of one operation, which certainly had no
// effect, and may have none for others.
func isOfOne(code int32) bool {
	why := refusals[code]
	return why != nil && !isAny(why, ErrSessionExpired, errMoved, ErrThrottled)
}

// blame keeps a path out of further groups because of which one was refused. That a
// node is missing, or a parent there, happens to every path.
func (f *flight) blame(m member, code int32) {
	if !isAny(refusals[code], ErrNoNode, ErrNodeExists) {
		f.of.keepApart(m.joins())
	}
}

// keepApart keeps a path out of groups.
func (g *groups) keepApart(parent string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.apart == nil || len(g.apart) >= maxApart {
		g.apart = map[string]bool{}
	}
	g.apart[parent] = true
}
