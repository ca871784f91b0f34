package framework

import (
	"sync"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
)

// closing has those that must not go on told when Close begins. There may be very many:
// each takes a word.
type closing struct {
	mu        sync.Mutex
	cause     error                   // nil until Close begins
	listeners []*bridge.CloseListener // each knows its index
}

// begin tells all of them, and from now on each that comes.
func (c *closing) begin(cause error) {
	c.mu.Lock()
	c.cause = cause
	told := c.listeners
	c.listeners = nil
	c.mu.Unlock()
	for _, l := range told {
		l.Closes(cause)
	}
}

func (c *closing) listen(l *bridge.CloseListener) {
	c.mu.Lock()
	cause := c.cause
	if cause == nil {
		l.Index = len(c.listeners)
		c.listeners = append(c.listeners, l)
	}
	c.mu.Unlock()
	if cause != nil {
		l.Closes(cause)
	}
}

// forget moves the last one to where the given one was.
func (c *closing) forget(l *bridge.CloseListener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	end := len(c.listeners) - 1
	last := c.listeners[end]
	c.listeners[l.Index], last.Index = last, l.Index
	c.listeners[end] = nil
	c.listeners = c.listeners[:end]
}
