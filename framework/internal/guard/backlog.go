package guard

import (
	"slices"
	"time"
)

// After it has re-attached the library first sends the requests in its queue, and then
// the request that sets its watches again. The guard reverses that order.

// HoldBack delays all requests until one that sets watches was sent, or until SendHeld.
// With all, requests that set watches wait for SendHeld as well.
func (c *Conn) HoldBack(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding, c.holdingAll = true, all
}

// hold keeps a copy of a request if it has to wait.
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

// writeHeld sends the requests that were held back. The caller has the slot.
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

// SendHeld sends the requests that were held back.
func (c *Conn) SendHeld() { c.send(c.writeHeld) }

// send runs write, which gets as much time as a handshake at most.
func (c *Conn) send(write func()) {
	if !c.acquire(nil) {
		return
	}
	defer c.release()
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.guard.handshakeLimit()))
	write()
	_ = c.Conn.SetWriteDeadline(time.Time{})
}
