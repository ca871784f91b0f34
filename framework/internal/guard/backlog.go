package guard

import (
	"slices"
	"time"
)

// The library sends what is in its queue as soon as it has re-attached, and the request
// that sets its watches again behind that. The guard turns the order round.

// HoldBack makes requests wait until one to set watches was sent, or SendHeld. With
// all, those to set watches wait for SendHeld, too.
func (c *Conn) HoldBack(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding, c.holdingAll = true, all
}

// hold keeps a copy of a request that has to wait.
func (c *Conn) hold(frame []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	op := operation(frame)
	if !c.holding || op == opSetAuth || op == opPing || op == opSetWatches && !c.holdingAll {
		return false
	}
	c.held = append(c.held, slices.Clone(frame))
	return true
}

// writeHeld sends what was held back. The caller has the slot.
func (c *Conn) writeHeld() {
	c.mu.Lock()
	held := c.held
	c.held, c.holding = nil, false
	c.mu.Unlock()
	for _, first := range []bool{true, false} {
		for _, frame := range held {
			if (operation(frame) == opSetWatches) == first {
				c.write(frame)
			}
		}
	}
}

// SendHeld sends what was held back.
func (c *Conn) SendHeld() { c.send(c.writeHeld) }

// send runs what writes. It takes as long as a handshake may, at most.
func (c *Conn) send(write func()) {
	if !c.acquire(nil) {
		return
	}
	defer c.release()
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.guard.handshakeLimit()))
	write()
	_ = c.Conn.SetWriteDeadline(time.Time{})
}
