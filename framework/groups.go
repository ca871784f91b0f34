package framework

import (
	"sync"
	"sync/atomic"
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
//     it. The listings behind the creates of a group travel together, too: see
//     listings.go.
//   - The create of a parent, ahead of that of the node, is a member as well. If both
//     wait, they are in this order. In one group they have one czxid; that of a parent
//     is no token.
//   - A caller that leaves while its call waits in the queue takes it out. One whose
//     connection is gone by then gets it back, and waits for the next connection.
//   - Only what is rarely refused joins: the first attempt to create a parent, or a
//     node below one that is there as far as the client can tell, and the first to
//     delete a node that recipes have made. Paths where a server has refused something
//     else than that a node is missing, or is there already, stay out.
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
	conn    *guard.Conn
	down    *signal.Signal // given when the gate is not open any more for it
	limit   int            // bytes of a request
	hangUps *atomic.Int32  // of the session

	sending sync.Mutex // held from taking calls out of the queue until they have their place

	mu        sync.Mutex
	flights   int               // under way, but for that which only deletes have
	calls     int               // in these
	deleting  bool              // that one is under way
	creates   []member          // wait, in order
	deletes   []member          // and so do these
	passed    bool              // creates, by deletes; so they go first now
	parents   map[string]member // of those creates
	ahead     map[string]member // creates of parents that wait, or have no place yet
	apart     map[string]bool   // paths that stay out
	timer     *time.Timer       // runs while some wait
	following int               // groups whose members have more sent behind them just now
	listings  []member          // of those
	hungUp    bool              // before listings were answered
}

func newGroups(s *Session, conn *guard.Conn, down *signal.Signal) *groups {
	limit := min(s.core.cfg.MaxRequestBytes, s.core.cfg.MaxReplyBytes) // for both: see take
	return &groups{conn: conn, down: down, limit: limit, hangUps: &s.hangUps, parents: map[string]member{}, ahead: map[string]member{}}
}

// send sends a request, or has it wait for others. It returns false if the connection
// is gone.
func (g *groups) send(m member) bool {
	parent := m.joins()
	if parent == "" {
		return g.alone(m)
	}
	code, _ := m.operation()
	if code == guard.OpGetChildren2 {
		return g.gathers(m) || g.alone(m)
	}
	g.mu.Lock()
	first, ahead := g.parents[parent], g.ahead[parent]
	switch f := m.flight(); {
	case g.apart[parent], code == guard.OpCreate && first != nil, code == guard.OpContainer && ahead != nil:
		g.sendAlone(ahead, first)
		g.mu.Unlock()
		return g.alone(m)
	case (code == guard.OpDelete || ahead == nil) && g.departs(f, code == guard.OpDelete, 1):
		g.mu.Unlock()
		f.of, f.members = g, append(f.one[:0], m)
		if f.send() {
			return true
		}
		g.landed(f)
		return false
	}
	defer g.mu.Unlock()
	g.enqueue(m, parent, code)
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

// sendAlone does that with those that wait, in this order; nil is none. The caller has
// the lock, which is given back meanwhile.
func (g *groups) sendAlone(waiting ...member) {
	for _, m := range waiting {
		if m == nil || !g.remove(m) {
			continue
		}
		g.mu.Unlock()
		g.aloneOrBack(m)
		g.mu.Lock()
		g.placed(m)
	}
}

// aloneOrBack does that with one that has waited.
func (g *groups) aloneOrBack(m member) {
	if !g.alone(m) {
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
