// Package signal provides an event that happens once: a channel that any goroutine may
// close, any number of times.
package signal

import "sync"

// A Signal is given once and stays given. The zero value is not given yet; it makes its
// channel only when Done is called. It is safe for concurrent use.
type Signal struct {
	mu    sync.Mutex
	given bool
	done  chan struct{}
}

// New returns a signal that is not given yet.
func New() *Signal { return new(Signal) }

// Give gives the signal: it closes Done. It is idempotent.
func (s *Signal) Give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil && !s.given {
		close(s.done)
	}
	s.given = true
}

// Done returns a channel that is closed once the signal is given.
func (s *Signal) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		if s.given {
			close(s.done)
		}
	}
	return s.done
}

// Given reports whether the signal is given.
func (s *Signal) Given() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}
