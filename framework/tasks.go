package framework

import (
	"sync"
	"sync/atomic"
)

// tasks are goroutines that are waited for: nothing starts after wait was called. One
// that has done its work waits for more, because a new one has to grow its stack first.
// The usual start takes no lock of Go's, which all would queue for in turn once one of
// them was delayed.
type tasks struct {
	idle   chan *worker // the longest idle first; nil if none is to be kept
	spare  atomic.Int64 // how many of idle were not needed since trim
	closed atomic.Bool
	mu     sync.Mutex // of starts of goroutines
	group  sync.WaitGroup
}

// idleTasks is how many goroutines are kept for a session at most.
const idleTasks = 256

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
	if t.closed.Load() {
		return false
	}
	select {
	case w := <-t.idle:
		if n := int64(len(t.idle)); n < t.spare.Load() {
			t.spare.Store(n)
		}
		w.next <- work // it is not in idle any more, so that only this call sends
		return true
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed.Load() {
		return false
	}
	t.group.Add(1) // before wait waits
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

// rest makes a worker idle. It is false if there are enough.
func (t *tasks) rest(w *worker) bool {
	select {
	case t.idle <- w:
	default:
		return false
	}
	if t.closed.Load() { // wait may have looked before
		t.end(1)
	}
	return true
}

// trim ends the goroutines that were not needed since the last call.
func (t *tasks) trim() {
	t.end(int(t.spare.Load()))
	t.spare.Store(int64(len(t.idle)))
}

// end ends up to n of those that are idle.
func (t *tasks) end(n int) {
	for range n {
		select {
		case w := <-t.idle:
			w.next <- nil
		default:
			return
		}
	}
}

// wait keeps further tasks from starting and waits for those that run.
func (t *tasks) wait() {
	t.mu.Lock()
	t.closed.Store(true)
	t.mu.Unlock()
	t.end(idleTasks)
	t.group.Wait()
}
