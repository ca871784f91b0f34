package framework

import "sync"

// tasks are goroutines that are waited for: none starts after wait was called.
type tasks struct {
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
}

// start runs f in a goroutine, unless wait was called.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.group.Go(f) // before wait waits
	}
	return !t.closed
}

// wait keeps further tasks from starting and waits for those that run.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.group.Wait()
}
