package guard

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// The guard has a quorum vouch for the session with a transaction of its own, which
// only checks nodes. On a new connection it is the first request, before watches are
// set again; the library could not send it there. One is under way at a time. If its
// answer does not come, the connection breaks, and the next connection sends another,
// which does no harm.

// maxChecked is how many nodes one transaction checks at most.
const maxChecked = 32

// beforeFirst sends the check before the library's first request on this connection.
// The library's pings come behind that request. The caller has the slot.
func (c *Conn) beforeFirst() {
	if !c.begun.Swap(true) {
		c.sendCheck(c.startCheck())
	}
}

// startCheck returns the nodes that the caller has to check, with sendCheck. There are
// none while a check is under way, and before the server knows the credentials that may
// be needed for it.
func (c *Conn) startCheck() []*reliedNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun.Load() || c.vouching != nil {
		return nil
	}
	c.vouching = c.guard.relied.next(maxChecked, c.guard.cfg.MaxRequestBytes-checkOverhead)
	return c.vouching
}

// sendCheck asks a quorum to vouch for the session, unless there are no nodes to check.
// The caller has the slot.
func (c *Conn) sendCheck(nodes []*reliedNode) {
	if len(nodes) == 0 {
		return
	}
	c.write(checkRequest(xidVouch+1-c.guard.vouches.Add(1), nodes))
}

// checkErrors are the errors that mean that a node can no longer be relied on.
var checkErrors = map[int32]error{codeNoNode: zk.ErrNoNode, codeNoAuth: zk.ErrNoAuth}

// onVouchAnswer handles the answer to the request of sendCheck.
func (c *Conn) onVouchAnswer(code int32, end multiEnd) error {
	c.mu.Lock()
	nodes := c.vouching
	c.vouching = nil
	c.mu.Unlock()
	switch err := checkErrors[end.code]; {
	case code == codeExpired, end.code == codeExpired:
		return c.guard.endedByServer(ErrSessionExpired)
	case noSession(code), noSession(end.code):
		return errMoved // attaching again moves the session here again
	case code == 0 && err != nil && end.failed < len(nodes):
		c.guard.relied.fail(nodes[end.failed], err)
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
	if nodes := c.startCheck(); nodes != nil {
		g.events.Start(func() { c.send(func() { c.sendCheck(nodes) }) }) // in a goroutine, because it writes
	}
	return g.Timeout() / 24
}
