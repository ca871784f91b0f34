package histories

import (
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
)

// A follower lists a path behind each attempt to create a node there.
type follower struct {
	view kit.Kit
	path string

	mu   sync.Mutex
	last chan listing // behind the last attempt
}

// A listing is an answer.
type listing struct {
	names []string
	err   error
}

// list is called behind an attempt.
func (f *follower) list() {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := make(chan listing, 1)
	f.last = to
	if !f.view.SendChildren(f.path, func(names []string, err error) { to <- listing{names, err} }) {
		to <- listing{err: framework.ErrNotConnected}
	}
}

// shown returns what the last listing has shown.
func (f *follower) shown() ([]string, error) {
	f.mu.Lock()
	last := f.last
	f.mu.Unlock()
	l := <-last
	return l.names, l.err
}
