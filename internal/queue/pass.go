package queue

import "github.com/zkrecipes/zkrecipes/internal/protection"

// PassOn gives what of returns to the position directly behind, if this one is the head
// and that one is of the same session, and reports whether it did. joined says that
// this position has joined before a moment. All contenders ahead of it but the head are
// deleted then.
func (p *Position) PassOn(moment uint64, of func(joined bool) any) bool {
	v := p.view
	v.mu.Lock()
	defer v.unlock()
	if len(v.names) == 0 || v.names[0].Node != p.self.Node || !v.valid() {
		return false
	}
	for _, name := range v.names[1:] {
		if v.isGone(name) {
			continue
		}
		next := v.own[protection.Cut(name.Node)]
		if next == nil || next.self.Node != name.Node || next.awaiting == nil {
			return false
		}
		next.passed = of(next.answered <= moment)
		return true
	}
	return false
}

// TakePassed returns what a head has last passed on to the position, once; nil if there
// is nothing.
func (p *Position) TakePassed() any {
	p.view.mu.Lock()
	defer p.view.unlock()
	passed := p.passed
	p.passed = nil
	return passed
}

// Moment returns the present one, for PassOn.
func (p *Position) Moment() uint64 { return p.view.now() }

// Watched has the own node watched, also of a position that is admitted. It returns the
// channel that receives when Err may have changed.
func (p *Position) Watched() <-chan struct{} {
	p.view.mu.Lock()
	defer p.view.unlock()
	p.watchOwn(false)
	return p.wake
}

// Err returns ErrEvicted if the own node was deleted, or why it cannot be watched.
func (p *Position) Err() error {
	p.view.mu.Lock()
	defer p.view.unlock()
	if p.evicted {
		return ErrEvicted
	}
	return p.failed
}
