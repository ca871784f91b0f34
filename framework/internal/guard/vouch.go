package guard

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// The guard itself has a quorum vouch for the session, with a transaction that does
// nothing but check nodes: on a new connection that comes first, before watches are set
// again and anything else is asked, and the library could not send it there. It is sent
// once at a time. If its answer is lost, so is the connection; on the next it is
// repeated, which does no harm.

// maxChecked is how many nodes are checked by one transaction.
const maxChecked = 32

// begin asks before the library's first request on this connection, behind which its
// pings are. The caller has the slot.
func (c *Conn) beforeFirst() {
	if !c.begun.Swap(true) {
		c.sendCheck(c.startCheck())
	}
}

// claim returns what a quorum should be asked about, for whoever is to ask it. There is
// nothing while it is being asked, and before the server knows the credentials that may
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

// ask asks a quorum to vouch for the session, unless there is nothing to ask about. The
// caller has the slot.
func (c *Conn) sendCheck(nodes []*reliedNode) {
	if len(nodes) == 0 {
		return
	}
	c.write(checkRequest(xidVouch+1-c.guard.vouches.Add(1), nodes))
}

// checkErrors says of the codes of a failed check what is wrong with its node.
var checkErrors = map[int32]error{codeNoNode: zk.ErrNoNode, codeNoAuth: zk.ErrNoAuth}

// vouched looks at the answer to what ask has sent.
func (c *Conn) onVouchAnswer(code int32, end multiEnd) error {
	c.mu.Lock()
	nodes := c.vouching
	c.vouching = nil
	c.mu.Unlock()
	switch err := checkErrors[end.code]; {
	case code == codeExpired, end.code == codeExpired:
		return c.guard.endedByServer(ErrSessionExpired)
	case noSession(code), noSession(end.code):
		return errMoved // by attaching again it moves here again
	case code == 0 && err != nil && end.failed < len(nodes):
		c.guard.relied.fail(nodes[end.failed], err)
		c.guard.events.Wake() // the others at once
	}
	return nil
}

// checkVouch asks for the session when it is time to. It returns the time until it
// should look again.
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
		g.events.Start(func() { c.send(func() { c.sendCheck(nodes) }) }) // writes, so not here
	}
	return g.Timeout() / 24
}
