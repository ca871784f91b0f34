// Package signal is a moment that is waited for: a channel that is closed once, by
// whoever comes first.
package signal

import "sync"

// A Signal says that something has happened, and goes on saying so. The zero value was
// not given yet, and has no channel until somebody asks for it. It is safe for
// concurrent use.
type Signal struct {
	mu    sync.Mutex
	given bool
	done  chan struct{}
}

// New returns a signal that was not given yet.
func New() *Signal { return new(Signal) }

// Give closes Done. It is idempotent.
func (s *Signal) Give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil && !s.given {
		close(s.done)
	}
	s.given = true
}

// Done is closed once the signal was given.
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

// Given reports whether it was.
func (s *Signal) Given() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}
