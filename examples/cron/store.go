package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A store is the place outside ZooKeeper in which the job changes something. It
// remembers the tick together with the change, and refuses tokens that are older than
// the newest it has seen for that tick.
type store struct {
	mu      sync.Mutex
	ticks   map[time.Time]*row
	changes int // how often something was changed
	refused int // how often an old token came
}

// A row is what the store knows of a tick.
type row struct {
	begun  int // how often
	newest lease.Token
	done   bool
}

func newStore() *store { return &store{ticks: map[time.Time]*row{}} }

// see makes a row.
func (s *store) see(tick time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row(tick)
}

func (s *store) row(tick time.Time) *row {
	r := s.ticks[tick]
	if r == nil {
		r = new(row)
		s.ticks[tick] = r
	}
	return r
}

// begin counts a start. From now on tokens that are older are refused.
func (s *store) begin(tick time.Time, token lease.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row(tick).begun++
	return s.accept(tick, token)
}

func (s *store) accept(tick time.Time, token lease.Token) error {
	r := s.row(tick)
	if token < r.newest {
		s.refused++
		return fmt.Errorf("tick %s: token %v is older than %v", tick.Format(time.TimeOnly), token, r.newest)
	}
	r.newest = token
	return nil
}

// apply makes the change of a tick, unless it was made before.
func (s *store) apply(tick time.Time, token lease.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.accept(tick, token); err != nil {
		return err
	}
	if r := s.row(tick); !r.done {
		r.done = true
		s.changes++
	}
	return nil
}

// known returns all ticks that any process has seen, in order.
func (s *store) known() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.ticks), time.Time.Compare)
}
