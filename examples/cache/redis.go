package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A redis plays the shared cache. A real one compares tokens and writes in one step, in
// a script; see the documentation of the program.
type redis struct {
	mu           sync.Mutex
	entry        entry
	refused      int  // writes with an old token
	ignoreTokens bool // for a test of what happens then
}

func (r *redis) get(context.Context) (entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entry, nil
}

func (r *redis) put(_ context.Context, e entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.token < r.entry.token && !r.ignoreTokens {
		r.refused++
		return fmt.Errorf("%w: %v is older than %v", errOldToken, e.token, r.entry.token)
	}
	r.entry = e
	return nil
}

// expire makes the entry old, as time does, and returns the rates.
func (r *redis) expire() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry.until = time.Now().Add(-time.Second)
	return r.entry.rates
}
