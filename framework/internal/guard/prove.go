package guard

import "time"

// prove tells what an answer proves of the session.
func (c *Conn) prove(f inFlight, code int32, end multiEnd) {
	now := time.Now()
	switch {
	case gone(code), gone(end.code): // the server no longer has the session
	case f.op == opSetAuth: // the server does not look for it
	default:
		// A refusal may come from the server itself, such as one that throttles.
		c.guard.trust.answer(f.at, now, byLeader(f.op) && code == 0)
	}
	if byQuorum[f.op] && code == 0 && end.committed {
		c.guard.trust.committed(f.at, now)
	}
}

// gone tells whether a code means that the server no longer has the session.
func gone(code int32) bool { return code == codeExpired || code == codeMoved }
