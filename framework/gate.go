package framework

import (
	"context"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// The gate of a session is open while requests may be sent: from when the guard has
// attached a connection, with the credentials presented and the watches set again,
// until that breaks. It opens first when the session is published.
type gate struct {
	session *Session
	first   *signal.Signal // given at the first attachment

	mu        sync.Mutex
	conn      *guard.Conn    // the one that is attached, nil if there is none
	groups    *groups        // for that; replaced when the gate opens
	published bool           // the client has the session
	over      bool           // the session is
	up, down  *signal.Signal // given while it is open, and while it is not; replaced when that ends
}

func newGate(s *Session) *gate {
	g := &gate{session: s, first: signal.New(), up: signal.New(), down: signal.New()}
	g.down.Give()
	return g
}

// isOpen reports whether requests may be sent now.
func (g *gate) isOpen() bool { return g.requests() != nil }

// requests returns what sends them over the connection, nil while the gate is not open.
func (g *gate) requests() *groups {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.opens() {
		return nil
	}
	return g.groups
}

func (g *gate) opens() bool { return g.conn != nil && g.published && !g.over }

// signals returns one that is given while the gate is open, and one while it is not.
func (g *gate) signals() (up, down *signal.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.up, g.down
}

// change changes something, and opens or shuts the gate as follows from that.
func (g *gate) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.opens()
	f()
	switch after := g.opens(); {
	case after && !before:
		g.down = signal.New()
		g.groups = newGroups(g.session, g.conn, g.down)
		g.up.Give()
		g.session.opened()
	case before && !after:
		g.up = signal.New()
		g.down.Give()
	}
}

// attached is called when requests may be sent over a connection. That may be gone: the
// guard reports that once, before or after. The deletes of releases that an earlier
// connection has left unconfirmed go first: the slots may be granted again already, and
// what their new holders send has to come behind.
func (g *gate) attached(c *guard.Conn) {
	g.change(func() {
		if g.session.guard.Live() == c {
			g.session.releases.resend(c)
			g.conn = c
			g.first.Give()
		}
	})
}

// publish is called when the client has the session.
func (g *gate) publish() { g.change(func() { g.published = true }) }

// end is called when the session is over.
func (g *gate) end() { g.change(func() { g.over = true }) }

// broke is called when the connection is gone.
func (g *gate) broke(cause error) {
	wasOpen := false
	g.change(func() {
		wasOpen = g.opens()
		g.conn = nil
	})
	if wasOpen && context.Cause(g.session.ctx) == nil {
		g.session.became(Suspended, cause)
	}
}

// opened is called under the lock of the gate when requests may be sent.
func (s *Session) opened() {
	s.guard.Ready()
	s.became(Connected, nil)
	s.wake() // supervise sends something on each connection
}

// await waits until requests may be sent. It fails when the session or ctx ends.
func (s *Session) await(ctx context.Context) error {
	for {
		if err := s.Err(); err != nil {
			return err
		}
		up, _ := s.gate.signals()
		if up.Given() {
			return context.Cause(ctx)
		}
		select {
		case <-up.Done():
		case <-s.ctx.Done():
		case <-ctx.Done():
			return waitEnded(ctx, s.servers)
		}
	}
}
