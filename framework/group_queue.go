package framework

import (
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// enqueue has a call wait. The caller has the lock. There are flights under way, and
// the answer to each takes from the queue.
func (g *groups) enqueue(m member, parent string, code int32) {
	switch code {
	case guard.OpDelete:
		g.deletes = append(g.deletes, m)
	case guard.OpContainer:
		g.creates = append(g.creates, m)
		g.ahead[parent] = m
		m.Sent() // creates below it come behind it in the queue
	default:
		g.creates = append(g.creates, m)
		g.parents[parent] = m
	}
	switch {
	case len(g.creates)+len(g.deletes) > 1:
	case g.timer == nil:
		g.timer = time.AfterFunc(queueLimit, g.hurry)
	default:
		g.timer.Reset(queueLimit)
	}
}

// remove takes a call out of the queue, and reports whether it was there. The caller
// has the lock.
func (g *groups) remove(m member) (found bool) {
	is := func(other member) bool { return other == m }
	if i := slices.IndexFunc(g.deletes, is); i >= 0 {
		g.deletes = slices.Delete(g.deletes, i, i+1)
		return true
	}
	i := slices.IndexFunc(g.creates, is)
	if i >= 0 {
		g.creates = slices.Delete(g.creates, i, i+1)
		g.taken(m)
	}
	return i >= 0
}

// taken records that a create waits no more. The caller has the lock.
func (g *groups) taken(m member) {
	if g.parents[m.joins()] == m {
		delete(g.parents, m.joins())
	}
}

// placed records that the create of a parent has its place, or waits no more: what is
// below it need not wait behind it. The caller has the lock.
func (g *groups) placed(m member) {
	if g.ahead[m.joins()] == m {
		delete(g.ahead, m.joins())
	}
}

// withdraw takes out a call whose caller leaves. It returns false if it was sent, or is
// about to be.
func (g *groups) withdraw(m member) bool {
	if m.joins() == "" {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.remove(m)
	if found {
		g.placed(m)
	}
	return found
}

// landed is called when a flight was answered, or could not be sent.
func (g *groups) landed(f *flight) {
	g.mu.Lock()
	g.uncount(f)
	g.mu.Unlock()
	g.sendQueue(false)
}

// uncount is the reverse of departs.
func (g *groups) uncount(f *flight) {
	if f.deletes {
		g.deleting = false
		return
	}
	g.flights--
	g.calls -= len(f.members)
}

// hurry sends what has waited for long.
func (g *groups) hurry() { g.sendQueue(true) }

// sendQueue sends what waits as far as it may be under way now, or once in any case.
func (g *groups) sendQueue(inAnyCase bool) {
	for f, sent := g.sendNext(inAnyCase); f != nil; f, sent = g.sendNext(false) {
		if sent {
			f.follow()
		} else {
			f.giveBack()
		}
	}
}

// sendNext sends what goes together next, nil for nothing. What is taken out of the
// queue later does not pass it.
func (g *groups) sendNext(inAnyCase bool) (f *flight, sent bool) {
	g.sending.Lock()
	defer g.sending.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if f = g.next(inAnyCase); f == nil {
		return nil, false
	}
	g.mu.Unlock()
	sent = f.place()
	g.mu.Lock()
	for _, m := range f.members {
		g.placed(m)
	}
	if !sent {
		g.uncount(f)
	}
	return f, sent
}

// next takes what goes together next out of the queue, nil for nothing. The caller has
// the lock.
func (g *groups) next(inAnyCase bool) *flight {
	if len(g.creates)+len(g.deletes) == 0 {
		return nil
	}
	f := &flight{of: g}
	switch {
	case inAnyCase:
		g.flights++
	case !g.departs(f, len(g.deletes) > 0, 0):
		return nil
	}
	g.fill(f)
	if !f.deletes {
		g.calls += len(f.members)
	}
	if len(g.creates)+len(g.deletes) == 0 {
		g.timer.Stop()
	} else {
		g.timer.Reset(queueLimit)
	}
	return f
}

// fill takes calls out of the queue. The caller has the lock.
func (g *groups) fill(f *flight) {
	if f.deletes {
		g.deletes = f.take(g.deletes, maxMembers)
		return
	}
	first, second := &g.deletes, &g.creates
	if g.passed {
		first, second = second, first
	}
	*first = f.take(*first, maxMembers)
	*second = f.take(*second, maxMembers)
	g.passed = !g.passed && len(g.creates) > 0
	for _, m := range f.members {
		g.taken(m)
	}
}
