package guard

import (
	"cmp"
	"time"
)

// Supervise keeps the session trusted, ends it at its trust deadline, and breaks
// connections whose server does not answer. It returns the time until the next call at
// the latest. It must also be called after each Events.Wake.
func (g *Guard) Supervise(now time.Time) time.Duration {
	g.checkTrust(now)
	timeout := g.Timeout() // may become shorter
	limit := cmp.Or(g.cfg.RequestTimeout, timeout/3*2)
	// A silent server that owes an answer is left while there is time to attach to
	// another.
	silence := min(limit, max(timeout/6, min(500*time.Millisecond, timeout/3)))
	if c := g.Live(); c != nil && c.stuck(now, silence, min(limit, timeout/4), limit) {
		c.drop(errSilent)
	} else if c != nil && c.leaderless(now, timeout/4) {
		c.drop(errNoLeader) // another server may have one
	}
	return min(g.TrustedUntil().Sub(now), silence/4, g.makeRoundTrip(now), g.checkVouch(now))
}

// makeRoundTrip sends a sync, which is a round trip through the leader: every twelfth
// of the timeout, and at once on each further connection, one at a time. It returns the
// time until the next is due.
func (g *Guard) makeRoundTrip(now time.Time) time.Duration {
	period := g.Timeout() / 12
	c := g.Live()
	if wait := g.roundTripAt.Add(period).Sub(now); wait > 0 && c == g.roundTripOver {
		return wait
	}
	if c == nil || !g.events.IsOpen() || !g.underWay.CompareAndSwap(false, true) {
		return period / 2
	}
	g.roundTripAt, g.roundTripOver = now, c
	if !c.Send(OpSync, syncRecord, syncing{g}) {
		g.underWay.Store(false)
	}
	return period
}

var syncRecord = []byte{0, 0, 0, 1, '/'}

// A syncing is the request for a round trip.
type syncing struct{ guard *Guard }

// Sent does nothing.
func (syncing) Sent() {}

// Answered lets the next one be made.
func (s syncing) Answered(Answer) { s.guard.underWay.Store(false) }

// stuck reports whether the connection should be given up. It should if nothing at all
// has arrived for silence although an answer is due, or if one answer has not come for
// limit although others have. A commit gets more time: until then a server answers
// nothing else.
func (c *Conn) stuck(now time.Time, silence, commit, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var waited time.Duration // 0 if no answer is due
	if len(c.sent) > 0 {
		waited = now.Sub(c.sent[0].at)
		if byQuorum[c.sent[0].op] {
			silence = max(silence, commit)
		}
	}
	if len(c.pings) > 0 {
		waited = max(waited, now.Sub(c.pings[0]))
	}
	return waited >= limit || (waited >= silence && now.Sub(c.receivedAt) >= silence)
}

// leaderless reports whether the server should be left because it seems to have lost
// its leader, or its leader the quorum: for limit, the next answer due has been that to
// a sync or to a transaction that vouches.
func (c *Conn) leaderless(now time.Time, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFrame || len(c.sent) == 0 || (c.sent[0].op != OpSync && c.sent[0].xid > xidVouch) {
		return false
	}
	return min(now.Sub(c.sent[0].at), now.Sub(c.first)) >= limit
}
