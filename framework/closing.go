package framework

import (
	"maps"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
)

// closing has those that must not go on told when Close begins. There may be very many.
type closing struct {
	mu        sync.Mutex
	cause     error // nil until Close begins
	listeners map[bridge.CloseListener]struct{}
}

// begin tells all of them, and from now on each that comes.
func (c *closing) begin(cause error) {
	c.mu.Lock()
	c.cause = cause
	told := slices.Collect(maps.Keys(c.listeners))
	c.listeners = nil
	c.mu.Unlock()
	for _, l := range told {
		l.Closes(cause)
	}
}

func (c *closing) listen(l bridge.CloseListener) {
	c.mu.Lock()
	cause := c.cause
	if cause == nil {
		if c.listeners == nil {
			c.listeners = map[bridge.CloseListener]struct{}{}
		}
		c.listeners[l] = struct{}{}
	}
	c.mu.Unlock()
	if cause != nil {
		l.Closes(cause)
	}
}

func (c *closing) forget(l bridge.CloseListener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.listeners, l)
}
