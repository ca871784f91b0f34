package framework

import (
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// Groups are creates and deletes that travel together, as one multi, while others are
// under way. A member of a group is one call, and sees what it would have seen alone.
// Why that is so:
//
//   - A group is carried out as a whole, or not at all. If a server refuses it because
//     of one member, none had an effect, and each is sent again, alone, in the same
//     order. After an unknown outcome that of each member is unknown by itself: each is
//     looked for by its own id, and nothing is concluded from another one.
//   - No two creates of a group have the same parent: they would have one czxid, which
//     is the token of a lease. A create that meets another one of its parent in the
//     queue goes alone behind it, and both go at once. So a crowd on one path is not
//     delayed.
//   - The delete of a release that is handed over in memory is never a member: all that
//     the session sends later has to come behind it, but a group that was refused is
//     repeated behind what was sent meanwhile.
//   - What comes behind a create, such as a listing, is sent behind each attempt, also
//     behind the one that is repeated alone. A listing behind a group that was refused
//     does not show the node. That evicts nobody: the create was not answered before
//     it.
//   - A caller that leaves while its call waits in the queue takes it out. One whose
//     connection is gone by then gets it back, and waits for the next connection.
//   - Only what is rarely refused joins: the first attempt to create a node below a
//     parent that is known, and the first to delete a node that recipes have made.
//     Paths where a server has refused something else than a missing node stay out.
//
// A call goes alone, and at once, while fewer than maxAlone calls are under way, or
// fewer than maxFlights flights. So few callers never wait for each other. Deletes,
// which free something, go first, and have a flight of their own besides these. Creates
// that are left behind go first next time, or they could wait for ever. On a long way,
// or if the quorum is slow, a group goes out every queueLimit all the same.

const (
	// maxFlights is how many groups, or calls that could have joined one, may be under
	// way in any case. With two a server always has one to do.
	maxFlights = 2
	// maxAlone is how many calls may be under way, in whatever flights.
	maxAlone = 8
	// maxMembers is how many calls a group has at most.
	maxMembers = 64
	// queueLimit is for how long nothing may go out while calls wait.
	queueLimit = 5 * time.Millisecond
	// maxApart bounds how many paths are kept out of groups.
	maxApart = 1 << 10
)

// A member is a call that may join a group.
type member interface {
	guard.Request
	joins() (parent string) // "" if it may not
	operation() (code int32, record []byte)
	follow(down *signal.Signal)
	giveBack()       // it was not sent
	flight() *flight // for it alone
}

// groups sends the requests of a session over one connection.
type groups struct {
	conn  *guard.Conn
	down  *signal.Signal // given when the gate is not open any more for it
	limit int            // bytes of a request

	mu       sync.Mutex
	flights  int               // under way, but for that which only deletes have
	calls    int               // in these
	deleting bool              // that one is under way
	creates  []member          // wait, in order
	deletes  []member          // and so do these
	passed   bool              // creates, by deletes; so they go first now
	parents  map[string]member // of those creates
	apart    map[string]bool   // paths that stay out
	timer    *time.Timer       // runs while some wait
}

func newGroups(s *Session, conn *guard.Conn, down *signal.Signal) *groups {
	limit := min(s.core.cfg.MaxRequestBytes, s.core.cfg.MaxReplyBytes) // an answer is shorter
	return &groups{conn: conn, down: down, limit: limit, parents: map[string]member{}}
}

// send sends a request, or has it wait for others. It returns false if the connection
// is gone.
func (g *groups) send(m member) bool {
	parent := m.joins()
	if parent == "" {
		return g.alone(m)
	}
	code, _ := m.operation()
	g.mu.Lock()
	first := g.parents[parent]
	switch f := m.flight(); {
	case g.apart[parent], code == guard.OpCreate && first != nil:
		g.remove(first)
		g.mu.Unlock()
		g.aloneOrBack(first)
		return g.alone(m)
	case g.departs(f, code == guard.OpDelete, 1):
		g.mu.Unlock()
		f.of, f.members = g, append(f.one[:0], m)
		if f.send() {
			return true
		}
		g.landed(f)
		return false
	}
	defer g.mu.Unlock()
	g.enqueue(m, parent, code == guard.OpDelete)
	return true
}

// alone sends a request that is no flight.
func (g *groups) alone(m member) bool {
	code, record := m.operation()
	if !g.conn.Send(code, record, m) {
		return false
	}
	m.follow(g.down)
	return true
}

// aloneOrBack does that with one that has waited; nil is none.
func (g *groups) aloneOrBack(m member) {
	if m != nil && !g.alone(m) {
		m.giveBack()
	}
}

// departs reports whether a flight of so many calls may be under way now, and counts
// it. The caller has the lock.
func (g *groups) departs(f *flight, deletes bool, calls int) bool {
	f.deletes = false
	switch {
	case g.flights < maxFlights, g.calls < maxAlone:
		g.flights++
		g.calls += calls
	case deletes && !g.deleting:
		g.deleting, f.deletes = true, true
	default:
		return false
	}
	return true
}

// enqueue has a call wait. The caller has the lock. There are flights under way, and
// the answer to each takes from the queue.
func (g *groups) enqueue(m member, parent string, deletes bool) {
	if deletes {
		g.deletes = append(g.deletes, m)
	} else {
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
	if m == nil {
		return false
	}
	is := func(other member) bool { return other == m }
	if i := slices.IndexFunc(g.deletes, is); i >= 0 {
		g.deletes = slices.Delete(g.deletes, i, i+1)
		return true
	}
	i := slices.IndexFunc(g.creates, is)
	if i >= 0 {
		g.creates = slices.Delete(g.creates, i, i+1)
		delete(g.parents, m.joins())
	}
	return i >= 0
}

// withdraw takes out a call whose caller leaves. It returns false if it was sent, or is
// about to be.
func (g *groups) withdraw(m member) bool {
	if m.joins() == "" {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.remove(m)
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
	g.mu.Lock()
	defer g.mu.Unlock()
	for f := g.next(inAnyCase); f != nil; f = g.next(false) {
		g.mu.Unlock()
		sent := f.send()
		if !sent {
			f.giveBack()
		}
		g.mu.Lock()
		if !sent {
			g.uncount(f)
		}
	}
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
	bytes := guard.HeaderBytes + groupEnd
	take := func(from []member) (left []member) {
		for len(from) > 0 && len(f.members) < maxMembers {
			_, record := from[0].operation()
			if bytes += groupHeader + len(record); bytes > g.limit && len(f.members) > 0 {
				break
			}
			f.members = append(f.members, from[0])
			from[0], from = nil, from[1:]
		}
		return from
	}
	if f.deletes {
		g.deletes = take(g.deletes)
		return
	}
	first, second := &g.deletes, &g.creates
	if g.passed {
		first, second = second, first
	}
	*first = take(*first)
	*second = take(*second)
	g.passed = !g.passed && len(g.creates) > 0
	for _, m := range f.members {
		if g.parents[m.joins()] == m {
			delete(g.parents, m.joins())
		}
	}
}
