package zktest

import (
	"errors"

	"github.com/zkrecipes/zkrecipes/internal/jute"
)

// request is one frame of an established connection.
type request struct {
	xid  int32
	op   Op
	path string // of the first part, for a multi
	set  bool   // sets a watch
	body []byte
}

// parseRequest reads the header of a frame and, for faults and traces, the path. An
// invalid body is noticed later.
func parseRequest(frame []byte) (request, error) {
	d := jute.NewDecoder(frame)
	r := request{xid: d.Int32(), op: Op(d.Int32())}
	if err := d.Err(); err != nil {
		return r, err
	}
	r.body = d.Rest()
	switch r.op {
	case OpPing, OpClose, OpAuth, OpSetWatches, OpSetWatches2, OpWhoAmI, OpReconfig:
	case OpMulti, OpMultiRead:
		if h := d.MultiHeader(); !h.Done {
			r.path = d.String()
		}
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		r.path = d.String()
		r.set = d.Bool()
	case OpAddWatch:
		r.path, r.set = d.String(), true
	default:
		r.path = d.String()
	}
	return r, nil
}

// result is the result of a request.
type result struct {
	code   Code
	body   func(e *jute.Encoder) // nil for none; not called unless code is OK
	events []firing              // events to send before the reply, also to this client
	zxid   int64                 // for the reply's header
	closes bool                  // the connection ends with the reply
	silent bool                  // the connection ends without a reply
	never  bool                  // no reply to this and all later requests; the connection stays
}

// codeOf turns an error of a check into a code.
func codeOf(err error) Code {
	var c Code
	switch {
	case err == nil:
		return OK
	case errors.As(err, &c):
		return c
	}
	return MarshallingError
}

// reply encodes the reply to a request.
func (r *result) reply(xid int32) []byte {
	e := jute.NewFrame(128)
	e.Int32(xid)
	e.Int64(r.zxid)
	e.Int32(int32(r.code))
	if r.code == OK && r.body != nil {
		r.body(e)
	}
	return e.Frame()
}

// notification encodes a watch event.
func (f *firing) notification() []byte {
	e := jute.NewFrame(40 + len(f.path))
	e.Int32(-1)
	e.Int64(-1)
	e.Int32(0)
	e.Int32(int32(f.event))
	e.Int32(3) // the client is connected: the only state a server ever reports
	e.String(f.path)
	return e.Frame()
}

// failLocked is the result of a request that was not applied.
func (s *Server) failLocked(c *conn, code Code) result {
	return result{code: code, zxid: c.replica.zxid}
}

// applyLocked applies a request.
func (s *Server) applyLocked(c *conn, r request) result {
	if s.cfg.unsupported[r.op] {
		return unknown()
	}
	if c.minority != nil && needsQuorum(r.op) {
		return result{never: true}
	}
	switch r.op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpSetACL:
		return s.writeLocked(c, r)
	case OpMulti:
		return s.multiLocked(c, r)
	case OpAuth:
		return s.authLocked(c, r)
	case OpClose:
		return s.closeSessionLocked(c)
	case OpSync:
		return s.syncLocked(c, r)
	case OpReconfig:
		return s.reconfigLocked(c, r)
	case OpSetWatches, OpSetWatches2, OpAddWatch, OpCheckWatches, OpRemoveWatches:
		return s.watchRequestLocked(c, r)
	case OpPing:
		return result{zxid: c.replica.zxid}
	case OpCheck:
		// Valid only inside a multi. A real server closes the connection.
		return result{silent: true}
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2, OpGetACL, OpGetAllChildrenNumber, OpGetEphemerals,
		OpWhoAmI, OpMultiRead:
		return s.readLocked(c, r)
	}
	return unknown()
}

// unknown is the answer to a request that the server does not know: an error, then the
// end of the connection.
func unknown() result { return result{code: Unimplemented, zxid: -1, closes: true} }
