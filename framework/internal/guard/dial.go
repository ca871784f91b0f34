package guard

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"
)

// handshakeLimit limits the time for dialing and handshake together, so that one paused
// server costs at most a sixth of the session timeout.
func (g *Guard) handshakeLimit() time.Duration {
	return min(cmp.Or(g.Timeout(), g.cfg.SessionTimeout)/6, 2*time.Second)
}

// Dial is the library's dialer. It gets a placeholder for an address: Servers decides
// which server is next, and how long to wait before trying it.
func (g *Guard) Dial(_, _ string, _ time.Duration) (net.Conn, error) {
	addr, err := g.servers.next(g.ctx)
	if err != nil {
		return nil, g.refuse()
	}
	deadline := time.Now().Add(g.handshakeLimit())
	ctx, cancel := context.WithDeadline(g.ctx, deadline)
	defer cancel()
	g.servers.trying(addr.String())
	conn, err := g.servers.dial(ctx, addr)
	if err != nil {
		if g.ctx.Err() != nil {
			return nil, g.refuse()
		}
		g.servers.failed(addr.String(), err)
		return nil, err
	}
	gc := newConn(g, addr.String(), conn, deadline)
	g.servers.start(gc.writeAll)
	if old := g.latest; old != nil { // only this goroutine writes it
		// The library may dial again before it has closed the old connection. Session
		// and server must learn of the end of one connection before the start of the
		// next.
		_ = old.Close()
		<-old.notified.Done()
		returnsSoon(old.ended)
	}
	g.mu.Lock()
	over := g.ctx.Err() != nil
	if !over {
		g.conn, g.latest = gc, gc
	}
	g.mu.Unlock()
	if over {
		_ = gc.Close()
		return nil, g.refuse()
	}
	return gc, nil
}

// refuse blocks the library until Close has been called on it; see Finish.
func (g *Guard) refuse() error {
	g.parked.Give()
	<-g.release.Done()
	return errSealed
}

// Init, Len, Next and Connected make the guard a zk.HostProvider. "Start over" makes
// the library fail its queued requests and check whether it was closed. Next says it
// only when the library was released. So the library never makes its fixed pause of a
// second between rounds.

// Init does nothing.
func (g *Guard) Init([]string) error { return nil }

// Len returns 1: there is one placeholder.
func (g *Guard) Len() int { return 1 }

// Next returns the placeholder.
func (g *Guard) Next() (server string, retryStart bool) { return "zookeeper", g.release.Given() }

// Connected does nothing; the guard sees the handshake itself.
func (g *Guard) Connected() {}

// leastTimeout is the shortest session timeout that is accepted: timers of the library
// and of the guard are fractions of it.
const leastTimeout = 10 * time.Millisecond

// endedByServer reports that the server has ended the session.
func (g *Guard) endedByServer(cause error) error {
	g.events.Ended(cause)
	return cause
}

// handshake decides whether a connect reply is accepted.
func (g *Guard) handshake(c *Conn, r connectReply, asked time.Time) error {
	timeout := time.Duration(r.timeoutMillis) * time.Millisecond
	if r.session != 0 && timeout < leastTimeout {
		return fmt.Errorf("%w: session timeout %v", ErrMalformed, timeout)
	}
	g.mu.Lock()
	known, over := g.id, g.ctx.Err() != nil
	if !over && known == 0 && r.session != 0 {
		g.id, g.password = r.session, r.password
		g.roundTripAt, g.roundTripOver = time.Now(), c // the handshake was one
	}
	g.mu.Unlock()
	switch {
	case over:
		return errSealed
	case r.session == 0:
		return g.endedByServer(ErrSessionExpired)
	case known != 0 && r.session != known:
		return g.endedByServer(ErrSessionReplaced)
	}
	g.servers.attached(c.addr)
	now := time.Now()
	g.checkTrust(now) // before the handshake counts, not after
	g.trust.begin(asked, now, timeout)
	g.events.Wake() // the next deadline may be sooner now
	return nil
}
