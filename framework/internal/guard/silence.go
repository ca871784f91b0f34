package guard

import "time"

// stuck reports whether the connection should be given up: nothing at all has
// come for silence although something is awaited, or one answer has not come for
// limit although others do. For a commit it is waited longer: until then a server
// answers nothing else.
func (c *Conn) stuck(now time.Time, silence, commit, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var oldest time.Time
	if len(c.sent) > 0 {
		oldest = c.sent[0].at
		if byQuorum[c.sent[0].op] {
			silence = max(silence, commit)
		}
	}
	if len(c.pings) > 0 && (oldest.IsZero() || c.pings[0].Before(oldest)) {
		oldest = c.pings[0]
	}
	if oldest.IsZero() {
		return false
	}
	waited := now.Sub(oldest)
	return waited >= limit || (waited >= silence && now.Sub(c.heard) >= silence)
}

// leaderless reports whether the server should be left because it seems to have lost
// its leader, or that its quorum: for that long, the answer that is due next has been one
// to a sync, or to what a quorum is asked to vouch with.
func (c *Conn) leaderless(now time.Time, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFrame || len(c.sent) == 0 || (c.sent[0].op != opSync && c.sent[0].xid > xidVouch) {
		return false
	}
	since := c.sent[0].at
	if c.first.After(since) {
		since = c.first
	}
	return now.Sub(since) >= limit
}
