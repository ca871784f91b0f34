// Package signal provides an event that happens once: a channel that any goroutine may
// close, any number of times.
package signal

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Signal is given once and stays given. The zero value is not given yet. It is one
// word, and makes its channel only when Done or OnGive is called before it is given. It
// is safe for concurrent use.
type Signal struct{ channel atomic.Pointer[channel] }

// A channel is closed when its signal is given.
type channel struct {
	done chan struct{}

	mu    sync.Mutex // guards what follows
	given bool
	calls []*func() // to be called then
}

// given is the channel of all signals that were given before theirs was asked for.
var given = newChannel()

func init() { given.give() }

func newChannel() *channel { return &channel{done: make(chan struct{})} }

func (c *channel) give() {
	c.mu.Lock()
	before, calls := c.given, c.calls
	c.given, c.calls = true, nil
	c.mu.Unlock()
	if before {
		return
	}
	close(c.done)
	for _, call := range calls {
		(*call)()
	}
}

// New returns a signal that is not given yet.
func New() *Signal { return new(Signal) }

// Give gives the signal: it closes Done, and then calls the functions of OnGive. It is
// idempotent.
func (s *Signal) Give() {
	if !s.channel.CompareAndSwap(nil, given) {
		s.channel.Load().give()
	}
}

// Done returns a channel that is closed once the signal is given.
func (s *Signal) Done() <-chan struct{} { return s.made().done }

// made returns the channel, which it makes if there is none.
func (s *Signal) made() *channel {
	if s.channel.Load() == nil {
		s.channel.CompareAndSwap(nil, newChannel())
	}
	return s.channel.Load()
}

// OnGive has f called once the signal is given, by the goroutine that gives it; at once
// if it is given. After stop no call begins, but one that has begun may go on. f must
// not block.
func (s *Signal) OnGive(f func()) (stop func()) {
	c, call := s.made(), &f
	c.mu.Lock()
	given := c.given
	if !given {
		c.calls = append(c.calls, call)
	}
	c.mu.Unlock()
	if given {
		f()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls = slices.DeleteFunc(c.calls, func(other *func()) bool { return other == call })
	}
}

// Waiting returns how many functions of OnGive are to be called.
func (s *Signal) Waiting() int {
	c := s.made()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// Given reports whether the signal is given.
func (s *Signal) Given() bool {
	c := s.channel.Load()
	if c == nil {
		return false
	}
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
