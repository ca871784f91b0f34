package guard

import (
	"time"
)

// The guard has a quorum vouch for the session with a transaction of its own, which
// only checks nodes. On a new connection it is the first request, before watches are
// set again. One is under way at a time. If its answer does not come, the connection
// breaks, and the next connection sends another, which does no harm.

// maxChecked is how many nodes one transaction checks at most.
const maxChecked = 32

// startCheck returns the nodes that the caller has to check, with sendCheck. There are
// none while a check is under way.
func (c *Conn) startCheck() []*reliedNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vouching != nil {
		return nil
	}
	c.vouching = c.guard.relied.next(maxChecked, c.guard.cfg.MaxRequestBytes-checkOverhead)
	return c.vouching
}

// sendCheck asks a quorum to vouch for the session, unless there are no nodes to check.
// The caller has the lock of the order.
func (c *Conn) sendCheck(nodes []*reliedNode) {
	if len(nodes) > 0 {
		c.append(checkRequest(xidVouch+1-c.guard.vouches.Add(1), nodes))
	}
}

// onVouchAnswer handles the answer to the request of sendCheck.
func (c *Conn) onVouchAnswer(code int32, end multiEnd) error {
	c.mu.Lock()
	nodes := c.vouching
	c.vouching = nil
	c.mu.Unlock()
	switch {
	case code == codeExpired, end.code == codeExpired:
		return c.guard.endedByServer(ErrSessionExpired)
	case noSession(code), noSession(end.code):
		return errMoved // attaching again moves the session here again
	case code == 0 && (end.code == codeNoNode || end.code == codeNoAuth) && end.failed < len(nodes):
		c.guard.relied.fail(nodes[end.failed], end.code)
		c.guard.events.Wake() // check the others at once
	}
	return nil
}

// checkVouch asks a quorum to vouch for the session when that is due. It returns the
// time until the next call.
func (g *Guard) checkVouch(now time.Time) time.Duration {
	wait, relied := g.trust.vouchIn(now)
	c := g.Live()
	switch {
	case !relied, c == nil:
		return time.Hour
	case wait > 0:
		return wait
	}
	c.order.Lock()
	defer c.order.Unlock()
	c.sendCheck(c.startCheck())
	return g.Timeout() / 24
}
