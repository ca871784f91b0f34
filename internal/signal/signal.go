// Package signal is a moment that is waited for: a channel that is closed once, by
// whoever comes first.
package signal

import "sync"

// A Signal says that something has happened, and goes on saying so. New makes it. It
// is safe for concurrent use.
type Signal struct {
	once sync.Once
	done chan struct{}
}

// New returns a signal that was not given yet.
func New() *Signal { return &Signal{done: make(chan struct{})} }

// Give closes Done. It is idempotent.
func (s *Signal) Give() { s.once.Do(func() { close(s.done) }) }

// Done is closed once the signal was given.
func (s *Signal) Done() <-chan struct{} { return s.done }

// Given reports whether it was.
func (s *Signal) Given() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}
