package framework

import (
	"slices"
	"sync"
)

// tasks are goroutines that are waited for: nothing starts after wait was called. One
// that has done its work waits for more, because a new one has to grow its stack first.
type tasks struct {
	group sync.WaitGroup

	mu     sync.Mutex
	closed bool
	idle   []*worker // the one that worked last is the last
	spare  int       // how many of idle were not needed since trim
}

// A task is work for a goroutine.
type task interface{ run() }

type taskFunc func()

func (f taskFunc) run() { f() }

// A worker is the goroutine of tasks.
type worker struct {
	next chan task // the next one, while it is idle; nil ends it
}

// start runs f in a goroutine, unless wait was called.
func (t *tasks) start(f func()) bool { return t.do(taskFunc(f)) }

// do does the same for a task.
func (t *tasks) do(work task) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return false
	}
	if n := len(t.idle) - 1; n >= 0 {
		w := t.idle[n]
		t.idle, t.spare = t.idle[:n], min(t.spare, n)
		t.mu.Unlock()
		w.next <- work // it is not in idle any more, so that only this call sends
		return true
	}
	t.group.Add(1) // before wait can be called
	t.mu.Unlock()
	go t.work(&worker{next: make(chan task, 1)}, work)
	return true
}

// work runs one task after the other.
func (t *tasks) work(w *worker, next task) {
	defer t.group.Done()
	for next != nil {
		next.run()
		if !t.rest(w) {
			return
		}
		next = <-w.next
	}
}

// rest makes a worker idle, unless wait was called.
func (t *tasks) rest(w *worker) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.idle = append(t.idle, w)
	}
	return !t.closed
}

// trim ends the goroutines that were not needed since the last call.
func (t *tasks) trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(t.spare)
}

// end ends those that have been idle for longest. The caller has the lock.
func (t *tasks) end(n int) {
	for _, w := range t.idle[:n] {
		w.next <- nil
	}
	t.idle = slices.Delete(t.idle, 0, n)
	t.spare = len(t.idle)
}

// wait keeps further tasks from starting and waits for those that run.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed = true
	t.end(len(t.idle))
	t.mu.Unlock()
	t.group.Wait()
}
