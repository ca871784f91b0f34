// Package signal provides an event that happens once: a channel that any goroutine may
// close, any number of times.
package signal

import (
	"sync"
	"sync/atomic"
)

// A Signal is given once and stays given. The zero value is not given yet. It is one
// word, and makes its channel only when Done is called before it is given. It is safe
// for concurrent use.
type Signal struct{ channel atomic.Pointer[channel] }

// A channel is closed when its signal is given.
type channel struct {
	done  chan struct{}
	close sync.Once
}

// given is the channel of all signals that were given before theirs was asked for.
var given = &channel{done: make(chan struct{})}

func init() { given.give() }

func (c *channel) give() { c.close.Do(func() { close(c.done) }) }

// New returns a signal that is not given yet.
func New() *Signal { return new(Signal) }

// Give gives the signal: it closes Done. It is idempotent.
func (s *Signal) Give() {
	if !s.channel.CompareAndSwap(nil, given) {
		s.channel.Load().give()
	}
}

// Done returns a channel that is closed once the signal is given.
func (s *Signal) Done() <-chan struct{} {
	if s.channel.Load() == nil {
		s.channel.CompareAndSwap(nil, &channel{done: make(chan struct{})})
	}
	return s.channel.Load().done
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
