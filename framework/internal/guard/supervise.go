package guard

import (
	"cmp"
	"time"
)

// Supervise keeps the session trusted, ends it at its trust deadline and breaks
// connections that do not answer. It returns the time until it is due again at the
// latest, and must be called again when Events.Wake was.
func (g *Guard) Supervise(now time.Time) time.Duration {
	g.checkTrust(now)
	timeout := g.Timeout() // which may become less
	limit := cmp.Or(g.cfg.RequestTimeout, timeout/3*2)
	// A server that is silent although it was asked something is left while there is
	// time to attach to another.
	silence := min(limit, max(timeout/6, min(500*time.Millisecond, timeout/3)))
	if c := g.Live(); c != nil && c.stuck(now, silence, min(limit, timeout/4), limit) {
		c.drop(errSilent)
	} else if c != nil && c.leaderless(now, timeout/4) {
		c.drop(errNoLeader) // others may have one
	}
	return min(g.TrustedUntil().Sub(now), silence/4, g.makeRoundTrip(now), g.checkVouch(now))
}

// makeRoundTrip sends a sync, which is a round trip through the leader, every twelfth of the
// timeout and at once on each further connection, one at a time. It returns the time
// until the next is due.
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
	g.events.Start(func() {
		_, _ = g.library.Sync("/") // what it proves, the guard sees
		g.underWay.Store(false)
	})
	return period
}

// stuck reports whether the connection should be given up: nothing at all has come for
// silence although something is awaited, or one answer has not come for limit although
// others do. For a commit it is waited longer: until then a server answers nothing
// else.
func (c *Conn) stuck(now time.Time, silence, commit, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var waited time.Duration // 0 if nothing is awaited
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
// its leader, or that its quorum: for that long, the answer that is due next has been
// one to a sync, or to what a quorum is asked to vouch with.
func (c *Conn) leaderless(now time.Time, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFrame || len(c.sent) == 0 || (c.sent[0].op != opSync && c.sent[0].xid > xidVouch) {
		return false
	}
	return min(now.Sub(c.sent[0].at), now.Sub(c.first)) >= limit
}
