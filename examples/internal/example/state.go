package example

import (
	"context"
	"sync"
)

// State is what the goroutines of a program tell each other: they change it, and wait
// for what others change. Its zero value can be used. It is embedded beside the fields
// that its mutex guards.
type State struct {
	sync.Mutex
	// Failure, guarded by the mutex, is the first thing that went wrong. It ends all
	// waits.
	Failure error

	changed chan struct{} // closed, and forgotten, at each change
}

// Change calls f with the mutex locked, and wakes those that wait.
func (s *State) Change(f func()) {
	s.Lock()
	defer s.Unlock()
	f()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Await waits until done returns true, which it calls at each change, with the mutex
// locked. It returns an error if there is a Failure, or if ctx ends first.
func (s *State) Await(ctx context.Context, done func() bool) error {
	for {
		changed, ok, err := s.look(done)
		if ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *State) look(done func() bool) (changed <-chan struct{}, ok bool, err error) {
	s.Lock()
	defer s.Unlock()
	if s.Failure != nil {
		return nil, false, s.Failure
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed, done(), nil
}
